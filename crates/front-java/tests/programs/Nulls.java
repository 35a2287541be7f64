import java.util.AbstractCollection;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** What was used is not null, and what failed to be used may be. */
class UsedThenNullWrong {
    static class Door { void open() { } }
    static int total;
    static Door door;
    static void enter() {
        Door own = door;
        try { own.open(); } catch (NullPointerException e) { System.out.println("closed"); }
        if (own == null) total++; // wrong
    }
    public static void main(String[] args) {
        if (args.length > 3) door = new Door();
        for (int i = 0; i < 2; i++) new Thread(UsedThenNullWrong::enter).start();
    }
}

class UsedThenNullRight {
    static int total;
    public static void main(String[] args) throws InterruptedException {
        ExecutorService pool = Executors.newCachedThreadPool();
        pool.submit(() -> total++);
        if (pool != null) {
            pool.shutdown();
            pool.awaitTermination(1, TimeUnit.DAYS);
        }
        System.out.println(total);
    }
}

/** Nobody makes a square, so nothing is one. */
class NeverMadeRight {
    interface Shape { }
    static class Circle implements Shape { int radius; }
    static class Square implements Shape { int side; }
    static void grow(Shape shape) {
        if (shape instanceof Square) ((Square) shape).side++;
        else if (shape instanceof Circle) synchronized (shape) { ((Circle) shape).radius++; }
    }
    public static void main(String[] args) {
        Circle circle = new Circle();
        for (int i = 0; i < 2; i++) new Thread(() -> grow(circle)).start();
    }
}

class NeverMadeWrong {
    interface Shape { }
    static class Circle implements Shape { int radius; }
    static class Square implements Shape { int side; }
    static void grow(Shape shape) {
        if (shape instanceof Square) ((Square) shape).side++;
        else if (shape instanceof Circle) ((Circle) shape).radius++; // wrong
    }
    public static void main(String[] args) {
        Circle circle = new Circle();
        for (int i = 0; i < 2; i++) new Thread(() -> grow(circle)).start();
    }
}

/** A copy of a collection of the program has what its iterator gives, which is one from outside. */
class OwnCollectionWrong {
    static class Cell { int n; }
    static class Bag extends AbstractCollection<Cell> {
        final List<Cell> in = new ArrayList<>();
        @Override public Iterator<Cell> iterator() { return in.iterator(); }
        @Override public int size() { return in.size(); }
    }
    public static void main(String[] args) {
        Bag bag = new Bag();
        bag.in.add(new Cell());
        List<Cell> copy = new ArrayList<>(bag);
        new Thread(() -> { Cell own = copy.get(0); own.n++; }).start(); // wrong
        new Thread(() -> { Cell own = bag.in.get(0); own.n++; }).start(); // wrong
    }
}

class OwnCollectionRight {
    static class Cell { int n; }
    static class Bag extends AbstractCollection<Cell> {
        final List<Cell> in = new ArrayList<>();
        @Override public Iterator<Cell> iterator() { return in.iterator(); }
        @Override public int size() { return in.size(); }
    }
    public static void main(String[] args) {
        Bag bag = new Bag();
        bag.in.add(new Cell());
        List<Cell> copy = new ArrayList<>(bag);
        new Thread(() -> { Cell own = copy.get(0); synchronized (own) { own.n++; } }).start();
        new Thread(() -> { Cell own = bag.in.get(0); synchronized (own) { own.n++; } }).start();
    }
}
