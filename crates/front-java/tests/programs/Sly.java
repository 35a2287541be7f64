import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.locks.*;
import java.util.function.*;

/** Ways to reach something that are easily overlooked. */
class ListOfArrayWrong {
    static final Integer[] cells = new Integer[2];
    static final List<Integer> view = Arrays.asList(cells);
    public static void main(String[] args) {
        new Thread(() -> { synchronized (cells) { cells[0] = 1; } }).start();
        new Thread(() -> view.set(0, 2)).start(); // wrong
    }
}

class ValuesWrong {
    static class Cell { int n; }
    static final Map<String, Cell> map = new HashMap<>();
    public static void main(String[] args) {
        map.put("a", new Cell());
        for (int i = 0; i < 2; i++) new Thread(() -> { for (Cell c : map.values()) c.n++; }).start(); // wrong
    }
}

class SortedWrong {
    static int n;
    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) new Thread(() -> {
            List<String> own = new ArrayList<>();
            own.add("b");
            own.add("a");
            Collections.sort(own, (x, y) -> { n++; return x.compareTo(y); }); // wrong
        }).start();
    }
}

class EqualsWrong {
    static int n;
    static class Key {
        public boolean equals(Object o) { n++; return true; } // wrong
        public int hashCode() { return 1; }
    }
    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) new Thread(() -> { Map<Key, Key> own = new HashMap<>(); own.put(new Key(), null); own.get(new Key()); }).start();
    }
}

class ResourceWrong {
    static int n;
    static class Guard implements AutoCloseable { public void close() { n++; } } // wrong
    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) new Thread(() -> { try (Guard g = new Guard()) { g.hashCode(); } }).start();
    }
}

class ResourceRight {
    static class C {
        private final ReentrantLock lock = new ReentrantLock();
        private int n;
        class Guard implements AutoCloseable { Guard() { lock.lock(); } public void close() { lock.unlock(); } }
        void add() { lock.lock(); try { n++; } finally { lock.unlock(); } }
    }
    public static void main(String[] args) {
        C c = new C();
        for (int i = 0; i < 2; i++) new Thread(() -> c.add()).start();
    }
}

class BridgeWrong {
    static abstract class Sink<T> { abstract void put(T t); }
    static class Ints extends Sink<Integer> { int n; void put(Integer i) { n += i; } } // wrong
    public static void main(String[] args) {
        Sink<Integer> sink = new Ints();
        for (int i = 0; i < 2; i++) new Thread(() -> sink.put(1)).start();
    }
}

class NestedLambdaWrong {
    static int n;
    static Runnable twice(Runnable r) { return () -> { r.run(); r.run(); }; }
    public static void main(String[] args) {
        Runnable r = twice(() -> n++); // wrong
        new Thread(r).start();
        new Thread(r).start();
    }
}

class SupplierWrong {
    static class Cell { int n; }
    public static void main(String[] args) {
        Cell cell = new Cell();
        Supplier<Cell> supplier = () -> cell;
        for (int i = 0; i < 2; i++) new Thread(() -> supplier.get().n++).start(); // wrong
    }
}

class FunctionFieldWrong {
    static class Box { Function<Integer, Integer> f; int n; }
    public static void main(String[] args) {
        Box box = new Box();
        box.f = x -> box.n += x; // wrong
        for (int i = 0; i < 2; i++) new Thread(() -> box.f.apply(1)).start();
    }
}

class ConstructorReferenceWrong {
    static int made;
    static class Cell { Cell() { made++; } } // wrong
    public static void main(String[] args) {
        Supplier<Cell> maker = Cell::new;
        for (int i = 0; i < 2; i++) new Thread(() -> maker.get()).start();
    }
}

class ArrayOfArraysWrong {
    static class Board {
        private final int[][] rows = new int[2][];
        Board() { rows[0] = new int[3]; rows[1] = rows[0]; }
        void one() { synchronized (rows[0]) { rows[0][0]++; } }
        void two() { rows[1][0]++; } // wrong
    }
    public static void main(String[] args) {
        Board board = new Board();
        new Thread(() -> board.one()).start();
        new Thread(() -> board.two()).start();
    }
}

class FailedConstructorWrong {
    static C shared;
    static class C { int n; C() { shared = this; throw new IllegalStateException(); } }
    public static void main(String[] args) {
        new Thread(() -> { C c = shared; if (c != null) c.n++; }).start(); // wrong
        try { new C(); } catch (IllegalStateException e) { C c = shared; if (c != null) c.n++; } // wrong
    }
}

class ExceptionCarriesWrong {
    static class Ex extends RuntimeException { int n; }
    static final Ex shared = new Ex();
    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) new Thread(() -> { try { throw shared; } catch (Ex e) { e.n++; } }).start(); // wrong
    }
}

class EnumLockRight {
    enum Door { FRONT, BACK; private int n; void open() { synchronized (FRONT) { n++; } } }
    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) new Thread(() -> Door.BACK.open()).start();
    }
}

class EnumLockWrong {
    enum Door { FRONT, BACK; static int n; void open() { synchronized (this) { n++; } } } // wrong
    public static void main(String[] args) {
        new Thread(() -> Door.BACK.open()).start();
        new Thread(() -> Door.FRONT.open()).start();
    }
}

class PrivateInterfaceWrong {
    static int n;
    interface Step { private void real() { n++; } default void go() { real(); } } // wrong
    static class C implements Step { }
    public static void main(String[] args) {
        Step step = new C();
        for (int i = 0; i < 2; i++) new Thread(step::go).start();
    }
}

class VarargsWrong {
    static void add(int[]... all) { for (int[] one : all) one[0]++; } // wrong
    public static void main(String[] args) {
        int[] cell = new int[1];
        for (int i = 0; i < 2; i++) new Thread(() -> add(new int[1], cell)).start();
    }
}

class OwnedReturnedWrong {
    static class Box {
        private int[] a = new int[2];
        synchronized int[] all() { return a; }
        synchronized void add() { a[0]++; }
    }
    public static void main(String[] args) {
        Box box = new Box();
        for (int i = 0; i < 2; i++) new Thread(() -> { box.add(); box.all()[0]++; }).start(); // wrong
    }
}

class OwnedThroughLocalWrong {
    static class Box {
        private List<String> list = new ArrayList<>();
        void add() { List<String> l; synchronized (this) { l = list; } l.add("x"); } // wrong
    }
    public static void main(String[] args) {
        Box box = new Box();
        for (int i = 0; i < 2; i++) new Thread(() -> box.add()).start();
    }
}

class IteratorKeptWrong {
    static class Box {
        private final List<String> list = new ArrayList<>();
        synchronized void add() { list.add("x"); }
        synchronized Iterator<String> all() { return list.iterator(); }
    }
    public static void main(String[] args) {
        Box box = new Box();
        for (int i = 0; i < 2; i++) new Thread(() -> { box.add(); for (Iterator<String> it = box.all(); it.hasNext();) it.next(); }).start(); // wrong
    }
}

class SubListWrong {
    static class Box {
        private final List<String> list = new ArrayList<>();
        synchronized void add() { list.add("x"); }
        synchronized List<String> some() { return list.subList(0, 1); }
    }
    public static void main(String[] args) {
        Box box = new Box();
        for (int i = 0; i < 2; i++) new Thread(() -> { box.add(); box.some().get(0); }).start(); // wrong
    }
}

class StreamWrong {
    static class Cell { int n; }
    static final List<Cell> cells = new ArrayList<>();
    public static void main(String[] args) {
        cells.add(new Cell());
        for (int i = 0; i < 2; i++) new Thread(() -> cells.stream().map(c -> { c.n++; return c; }).count()).start(); // wrong
    }
}

class OptionalWrong {
    static class Cell { int n; }
    static final Cell cell = new Cell();
    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) new Thread(() -> Optional.of(cell).ifPresent(c -> c.n++)).start(); // wrong
    }
}

class BuilderWrong {
    static final StringBuilder text = new StringBuilder();
    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) new Thread(() -> text.append("x")).start(); // wrong
    }
}

class FutureWrong {
    static int n;
    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        Future<Integer> one = pool.submit(() -> n++); // wrong
        Future<Integer> two = pool.submit(() -> n++); // wrong
        one.get();
        two.get();
    }
}

class ScheduledWrong {
    static int n;
    public static void main(String[] args) {
        Executors.newScheduledThreadPool(1).scheduleAtFixedRate(() -> n++, 0, 1, TimeUnit.SECONDS); // wrong
        n++; // wrong
    }
}

class HookWrong {
    static int n;
    public static void main(String[] args) {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> n++)); // wrong
        n++; // wrong
    }
}

class HandlerWrong {
    static int n;
    public static void main(String[] args) {
        Thread.setDefaultUncaughtExceptionHandler((t, e) -> n++); // wrong
        for (int i = 0; i < 2; i++) new Thread(() -> { throw new IllegalStateException(); }).start();
    }
}
