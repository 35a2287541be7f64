import java.util.*;
import java.util.concurrent.*;

/** More ways to share something without a lock. */
class LeakedByLambdaWrong {
    static class C {
        int n;
        C() {
            new Thread(() -> n++).start(); // wrong
            n++; // wrong
        }
    }
    public static void main(String[] args) { new C(); }
}

class LeakedBySuperWrong {
    static List<Base> all = Collections.synchronizedList(new ArrayList<>());
    static class Base { int n; Base() { all.add(this); } }
    static class Sub extends Base { Sub() { n = 5; } } // wrong
    public static void main(String[] args) {
        new Thread(() -> { for (Base b : all) b.n++; }).start(); // wrong
        new Sub();
    }
}

class PooledTaskWrong {
    static int n;
    public static void main(String[] args) {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        for (int i = 0; i < 9; i++) pool.execute(() -> n++); // wrong
    }
}

class InnerFieldWrong {
    private int n;
    class Worker extends Thread {
        public void run() { n++; } // wrong
    }
    public static void main(String[] args) {
        InnerFieldWrong outer = new InnerFieldWrong();
        outer.new Worker().start();
        outer.new Worker().start();
    }
}

class InnerFieldRight {
    private int n;
    class Worker extends Thread {
        public void run() { synchronized (InnerFieldRight.this) { n++; } }
    }
    public static void main(String[] args) {
        InnerFieldRight outer = new InnerFieldRight();
        outer.new Worker().start();
        outer.new Worker().start();
    }
}

class InheritedWrong {
    static abstract class Sensor {
        protected int value;
        abstract void sense();
    }
    static class Warm extends Sensor { synchronized void sense() { value++; } }
    static class Cold extends Sensor { void sense() { value--; } } // wrong
    public static void main(String[] args) {
        Sensor[] sensors = { new Warm(), new Cold() };
        for (Sensor s : sensors) {
            for (int i = 0; i < 2; i++) new Thread(() -> s.sense()).start();
        }
    }
}

class InheritedRight {
    static abstract class Sensor {
        protected int value;
        abstract void sense();
    }
    static class Warm extends Sensor { synchronized void sense() { value++; } }
    static class Cold extends Sensor { synchronized void sense() { value--; } }
    public static void main(String[] args) {
        Sensor[] sensors = { new Warm(), new Cold() };
        for (Sensor s : sensors) {
            for (int i = 0; i < 2; i++) new Thread(() -> s.sense()).start();
        }
    }
}

class RecursiveWrong {
    static class Node { Node left; int n; void visit(int depth) { if (depth > 0) visit(depth - 1); n++; } } // wrong
    public static void main(String[] args) {
        Node node = new Node();
        for (int i = 0; i < 2; i++) new Thread(() -> node.visit(3)).start();
    }
}

class RecursiveRight {
    static class Node {
        int n;
        synchronized void visit(int depth) { if (depth > 0) visit(depth - 1); n++; }
    }
    public static void main(String[] args) {
        Node node = new Node();
        for (int i = 0; i < 2; i++) new Thread(() -> node.visit(3)).start();
    }
}

class NeverReturnsWrong {
    static class C { int n; void spin() { while (true) n++; } } // wrong
    static void go(C c) { c.spin(); }
    public static void main(String[] args) {
        C c = new C();
        for (int i = 0; i < 2; i++) new Thread(() -> go(c)).start();
    }
}

class UnlockedByHelperWrong {
    static class C {
        final java.util.concurrent.locks.ReentrantLock lock = new java.util.concurrent.locks.ReentrantLock();
        int n;
        void leave() { lock.unlock(); }
        void add() { lock.lock(); leave(); n++; } // wrong
    }
    public static void main(String[] args) {
        C c = new C();
        for (int i = 0; i < 2; i++) new Thread(() -> c.add()).start();
    }
}

class WaitInHelperWrong {
    static class C {
        int n;
        void pause() throws InterruptedException { wait(); }
        synchronized void add() throws InterruptedException { int before = n; pause(); n = before + 1; } // wrong
        synchronized void other() { n++; notifyAll(); }
    }
    public static void main(String[] args) {
        C c = new C();
        new Thread(() -> { try { c.add(); } catch (InterruptedException e) { } }).start();
        new Thread(() -> c.other()).start();
    }
}

class OtherNameWrong {
    static class Box {
        final java.util.concurrent.locks.ReentrantLock mutex;
        int n;
        Box(java.util.concurrent.locks.ReentrantLock mutex) { this.mutex = mutex; }
        void add(Box twin) { mutex.lock(); twin.mutex.unlock(); n++; } // wrong
    }
    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) {
            java.util.concurrent.locks.ReentrantLock mutex = new java.util.concurrent.locks.ReentrantLock();
            Box one = new Box(mutex);
            Box two = new Box(mutex);
            new Thread(() -> one.add(two)).start();
            new Thread(() -> one.add(two)).start();
        }
    }
}

class DefaultMethodWrong {
    interface Counting { int[] cell(); default void count() { cell()[0]++; } } // wrong
    static class C implements Counting { final int[] cell = new int[1]; public int[] cell() { return cell; } }
    public static void main(String[] args) {
        Counting c = new C();
        for (int i = 0; i < 2; i++) new Thread(c::count).start();
    }
}

class GridWrong {
    static final int[][] grid = new int[2][2];
    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) new Thread(() -> grid[0][1]++).start(); // wrong
    }
}

class SwappedLockWrong {
    static class C {
        Object lock = new Object();
        int n;
        void add() { synchronized (lock) { n++; } } // wrong
        void renew() { lock = new Object(); } // wrong
    }
    public static void main(String[] args) {
        C c = new C();
        for (int i = 0; i < 2; i++) new Thread(() -> { c.add(); c.renew(); }).start();
    }
}

class LocalLockWrong {
    static int n;
    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) new Thread(() -> { Object own = new Object(); synchronized (own) { n++; } }).start(); // wrong
    }
}

class ThrowingBlockWrong {
    static class C {
        int n;
        void add() {
            try { synchronized (this) { n++; fail(); } } catch (RuntimeException e) { n--; } // wrong
        }
        void fail() { throw new RuntimeException(); }
    }
    public static void main(String[] args) {
        C c = new C();
        for (int i = 0; i < 2; i++) new Thread(c::add).start();
    }
}

class RunnableTwiceWrong {
    static class Task implements Runnable { int n; public void run() { n++; } } // wrong
    public static void main(String[] args) {
        Task task = new Task();
        new Thread(task).start();
        new Thread(task).start();
    }
}

class OwnFieldsRight {
    static class Task extends Thread { int n; public void run() { n++; } }
    public static void main(String[] args) {
        for (int i = 0; i < 3; i++) new Task().start();
    }
}

class StartedByStartedWrong {
    static int n;
    public static void main(String[] args) {
        Thread outer = new Thread(() -> new Thread(() -> n++).start());
        outer.start();
        try { outer.join(); } catch (InterruptedException e) { }
        n++; // wrong
    }
}

class ContainerHandoffWrong {
    static class Item { int n; }
    public static void main(String[] args) {
        BlockingQueue<Item> queue = new LinkedBlockingQueue<>();
        new Thread(() -> { Item i = new Item(); queue.add(i); i.n++; }).start(); // wrong
        new Thread(() -> { Item i = queue.poll(); if (i != null) i.n++; }).start();
    }
}

class SynchronizedStaticRight {
    static int n;
    static synchronized void add() { n++; }
    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) new Thread(() -> { add(); synchronized (SynchronizedStaticRight.class) { n++; } }).start();
    }
}

class SynchronizedStaticWrong {
    static int n;
    static synchronized void add() { n++; } // wrong
    synchronized void more() { n++; } // wrong
    public static void main(String[] args) {
        SynchronizedStaticWrong one = new SynchronizedStaticWrong();
        new Thread(() -> add()).start();
        new Thread(() -> one.more()).start();
    }
}

class TernaryLockWrong {
    static int n;
    static final Object one = new Object();
    static final Object two = new Object();
    static void add(boolean which) { synchronized (which ? one : two) { n++; } } // wrong
    public static void main(String[] args) {
        new Thread(() -> add(true)).start();
        new Thread(() -> add(false)).start();
    }
}

class ReturnedFreshWrong {
    static class C { int n; }
    static C kept;
    static C make() { C c = new C(); kept = c; return c; }
    public static void main(String[] args) {
        new Thread(() -> { C c = kept; if (c != null) c.n++; }).start();
        C mine = make();
        mine.n++; // wrong
    }
}
