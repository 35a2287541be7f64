import java.util.*;
import java.util.concurrent.locks.*;

/** Programs that look guarded. */
class ReadLockWritesWrong {
    static class Box {
        final ReadWriteLock rw = new ReentrantReadWriteLock();
        final Lock r = rw.readLock();
        int n;
        void add() { r.lock(); try { n++; } finally { r.unlock(); } } // wrong
    }
    public static void main(String[] args) {
        Box box = new Box();
        for (int i = 0; i < 2; i++) new Thread(() -> box.add()).start();
    }
}

class ReadLockDirectWrong {
    static class Box {
        final ReentrantReadWriteLock rw = new ReentrantReadWriteLock();
        int n;
        void add() { rw.readLock().lock(); try { n++; } finally { rw.readLock().unlock(); } } // wrong
        void more() { rw.writeLock().lock(); try { n++; } finally { rw.writeLock().unlock(); } }
    }
    public static void main(String[] args) {
        Box box = new Box();
        for (int i = 0; i < 2; i++) new Thread(() -> { box.add(); box.more(); }).start();
    }
}

class ViewOfOwnedWrong {
    static class Log {
        private final List<String> lines = new ArrayList<>();
        synchronized void add(String line) { lines.add(line); }
        List<String> all() { return Collections.unmodifiableList(lines); }
    }
    public static void main(String[] args) {
        Log log = new Log();
        for (int i = 0; i < 2; i++) new Thread(() -> { log.add("x"); log.all().get(0); }).start(); // wrong
    }
}

class ViewOfOwnedRight {
    static class Log {
        private final List<String> lines = new ArrayList<>();
        synchronized void add(String line) { lines.add(line); }
        synchronized String first() { return Collections.unmodifiableList(lines).get(0); }
    }
    public static void main(String[] args) {
        Log log = new Log();
        for (int i = 0; i < 2; i++) new Thread(() -> { log.add("x"); log.first(); }).start();
    }
}

class PassedToLambdaWrong {
    interface Visitor { void visit(int[] cells); }
    static class Grid {
        private final int[] cells = new int[4];
        synchronized void set(int v) { cells[0] = v; } // wrong
        void each(Visitor v) { v.visit(cells); }
    }
    public static void main(String[] args) {
        Grid grid = new Grid();
        new Thread(() -> grid.set(1)).start();
        new Thread(() -> grid.each(c -> c[0]++)).start(); // wrong
    }
}

class PassedToLambdaRight {
    interface Visitor { void visit(int[] cells); }
    static class Grid {
        private final int[] cells = new int[4];
        synchronized void set(int v) { cells[0] = v; }
        synchronized void each(Visitor v) { v.visit(cells); }
    }
    public static void main(String[] args) {
        Grid grid = new Grid();
        new Thread(() -> grid.set(1)).start();
        new Thread(() -> grid.each(c -> c[0]++)).start();
    }
}

class CopyThenStoredWrong {
    static class Table {
        private int[] a = new int[1];
        synchronized int get() { return a[0]; } // wrong
        void grow() {
            int[] b;
            synchronized (this) { b = Arrays.copyOf(a, a.length + 1); a = b; }
            b[0] = 7; // wrong
        }
    }
    public static void main(String[] args) {
        Table table = new Table();
        new Thread(() -> table.get()).start();
        new Thread(() -> table.grow()).start();
    }
}

class CopyThenStoredRight {
    static class Table {
        private int[] a = new int[1];
        synchronized int get() { return a[0]; }
        void grow() {
            synchronized (this) { int[] b = Arrays.copyOf(a, a.length + 1); a = b; b[0] = 7; }
        }
    }
    public static void main(String[] args) {
        Table table = new Table();
        new Thread(() -> table.get()).start();
        new Thread(() -> table.grow()).start();
    }
}

class StoredThroughCallWrong {
    static class C { int n; }
    static C shared;
    public static void main(String[] args) {
        new Thread(() -> { C c = shared; if (c != null) c.n++; }).start();
        C mine = new C();
        shared = Objects.requireNonNull(mine);
        mine.n++; // wrong
    }
}

class ClonedWhileWrittenWrong {
    static class Point implements Cloneable {
        int x;
        int y;
        synchronized void move() { x++; y++; } // wrong
        Object copy() { try { return clone(); } catch (CloneNotSupportedException e) { return null; } } // wrong
    }
    public static void main(String[] args) {
        Point p = new Point();
        new Thread(() -> p.move()).start();
        new Thread(() -> p.copy()).start();
    }
}

class ClonedWhileWrittenRight {
    static class Point implements Cloneable {
        int x;
        int y;
        synchronized void move() { x++; y++; }
        synchronized Object copy() { try { return clone(); } catch (CloneNotSupportedException e) { return null; } }
    }
    public static void main(String[] args) {
        Point p = new Point();
        new Thread(() -> p.move()).start();
        new Thread(() -> p.copy()).start();
    }
}

class ArrayClonedWrong {
    static class Bag {
        private final int[] a = new int[3];
        synchronized void set() { a[0]++; a[1]++; } // wrong
        int[] copy() { return a.clone(); } // wrong
    }
    public static void main(String[] args) {
        Bag bag = new Bag();
        new Thread(() -> bag.set()).start();
        new Thread(() -> bag.copy()).start();
    }
}

class ArrayClonedRight {
    static class Bag {
        private final int[] a = new int[3];
        synchronized void set() { a[0]++; a[1]++; }
        synchronized int[] copy() { return a.clone(); }
    }
    public static void main(String[] args) {
        Bag bag = new Bag();
        new Thread(() -> bag.set()).start();
        new Thread(() -> bag.copy()).start();
    }
}

class PrintedListWrong {
    static final List<String> list = new ArrayList<>();
    public static void main(String[] args) {
        new Thread(() -> { synchronized (list) { list.add("a"); } }).start();
        new Thread(() -> System.out.println(list)).start(); // wrong
    }
}

class PrintedListRight {
    static final List<String> list = new ArrayList<>();
    public static void main(String[] args) {
        new Thread(() -> { synchronized (list) { list.add("a"); } }).start();
        new Thread(() -> { synchronized (list) { System.out.println(list); } }).start();
    }
}

class ConcatenatedListWrong {
    static final List<String> list = new ArrayList<>();
    public static void main(String[] args) {
        new Thread(() -> { synchronized (list) { list.add("a"); } }).start();
        new Thread(() -> { String s = "all: " + list; }).start(); // wrong
    }
}

class NestedListWrong {
    static final List<List<String>> outer = new ArrayList<>();
    public static void main(String[] args) {
        List<String> inner = new ArrayList<>();
        outer.add(inner);
        new Thread(() -> { synchronized (inner) { inner.add("a"); } }).start();
        new Thread(() -> System.out.println(outer)).start(); // wrong
    }
}

class ComparedListWrong {
    static final List<String> list = new ArrayList<>();
    public static void main(String[] args) {
        List<String> other = new ArrayList<>();
        new Thread(() -> { synchronized (list) { list.add("a"); } }).start();
        new Thread(() -> other.equals(list)).start(); // wrong
    }
}

class NumberWrong {
    static class Gauge extends Number {
        int n;
        public int intValue() { return n++; } // wrong
        public long longValue() { return n; }
        public float floatValue() { return n; }
        public double doubleValue() { return n; }
    }
    public static void main(String[] args) {
        List<Number> all = new ArrayList<>();
        all.add(new Gauge());
        for (int i = 0; i < 2; i++) new Thread(() -> { Number n = all.get(0); n.intValue(); }).start();
    }
}

class MainInitialiserWrong {
    static class Shared { static int n; }
    static {
        new Thread(() -> Shared.n++).start(); // wrong
        Shared.n++; // wrong
    }
    public static void main(String[] args) { }
}

class DefaultInitialiserWrong {
    static int n;
    interface Eager { int X = count(); static int count() { return n++; } default void go() { } } // wrong
    static class C implements Eager { }
    public static void main(String[] args) {
        new Thread(() -> new C()).start();
        n++; // wrong
    }
}

class ReferenceInitialiserWrong {
    static class Shared { static int n; }
    static class Lazy { static { Shared.n++; } static void go() { } } // wrong
    public static void main(String[] args) {
        new Thread(Lazy::go).start();
        Shared.n++; // wrong
    }
}

class SpecificDefaultWrong {
    static int n;
    interface One { default void go() { } }
    interface Two extends One { default void go() { n++; } } // wrong
    static class C implements One, Two { }
    public static void main(String[] args) {
        One one = new C();
        for (int i = 0; i < 2; i++) new Thread(() -> one.go()).start();
    }
}

class CallbackOfListWrong {
    static class Count extends AbstractList<String> {
        int n;
        public String get(int i) { n++; return "x"; } // wrong
        public int size() { return 3; }
    }
    public static void main(String[] args) {
        Count count = new Count();
        for (int i = 0; i < 2; i++) new Thread(() -> { for (String s : count) s.length(); }).start();
    }
}

class ListenerOfExceptionWrong {
    static int n;
    static class Ex extends RuntimeException { public String getMessage() { return "" + n++; } } // wrong
    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) new Thread(() -> { try { throw new Ex(); } catch (Ex e) { e.printStackTrace(); } }).start();
    }
}

class TwoNamesOfMonitorWrong {
    static class Pair {
        final Object a;
        final Object b;
        int n;
        Pair(Object m) { a = m; b = m; }
        void slow() throws InterruptedException { synchronized (a) { int before = n; b.wait(); n = before + 1; } } // wrong
        void fast() { synchronized (a) { n++; a.notifyAll(); } }
    }
    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) {
            Pair pair = new Pair(new Object());
            new Thread(() -> { try { pair.slow(); } catch (InterruptedException e) { } }).start();
            new Thread(() -> pair.fast()).start();
        }
    }
}

class TwoNamesOfLockWrong {
    static class Pair {
        final ReentrantLock a;
        final ReentrantLock b;
        int n;
        Pair(ReentrantLock m) { a = m; b = m; }
        void add() { a.lock(); b.unlock(); n++; b.lock(); a.unlock(); } // wrong
    }
    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) {
            Pair pair = new Pair(new ReentrantLock());
            for (int k = 0; k < 2; k++) new Thread(() -> pair.add()).start();
        }
    }
}

class StringLockWaitWrong {
    static class C {
        final String lock = "lock";
        int n;
        void slow() throws InterruptedException { synchronized (lock) { int before = n; "lock".wait(); n = before + 1; } } // wrong
        void fast() { synchronized (lock) { n++; lock.notifyAll(); } }
    }
    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) {
            C c = new C();
            new Thread(() -> { try { c.slow(); } catch (InterruptedException e) { } }).start();
            new Thread(() -> c.fast()).start();
        }
    }
}

class ClassWaitWrong {
    static int n;
    static class C {
        static synchronized void slow(C c) throws InterruptedException { int before = n; c.getClass().wait(); n = before + 1; } // wrong
        static synchronized void fast() { n++; C.class.notifyAll(); }
    }
    public static void main(String[] args) {
        C c = new C();
        new Thread(() -> { try { C.slow(c); } catch (InterruptedException e) { } }).start();
        new Thread(() -> C.fast()).start();
    }
}

class CurrentThreadWaitWrong {
    static class W extends Thread {
        int n;
        public void run() {
            synchronized (this) {
                int before = n;
                try { Thread.currentThread().wait(); } catch (InterruptedException e) { }
                n = before + 1; // wrong
            }
        }
        synchronized void poke() { n++; notifyAll(); }
    }
    public static void main(String[] args) {
        W w = new W();
        w.start();
        w.poke();
    }
}

class CurrentThreadFieldWrong {
    static class W extends Thread {
        int n;
        public void run() { ((W) Thread.currentThread()).n++; } // wrong
    }
    public static void main(String[] args) {
        W w = new W();
        w.start();
        w.n++; // wrong
    }
}

class EntriesWrong {
    static class Cell { int n; }
    public static void main(String[] args) {
        Map<String, Cell> map = new HashMap<>();
        map.put("a", new Cell());
        for (int i = 0; i < 2; i++) new Thread(() -> { for (Map.Entry<String, Cell> e : map.entrySet()) e.getValue().n++; }).start(); // wrong
    }
}

class EntriesRight {
    static class Cell { private int n; synchronized void add() { n++; } }
    public static void main(String[] args) {
        Map<String, Cell> map = new HashMap<>();
        map.put("a", new Cell());
        for (int i = 0; i < 2; i++) new Thread(() -> { for (Map.Entry<String, Cell> e : map.entrySet()) e.getValue().add(); }).start();
    }
}

class RecordWrong {
    record Pair(int[] cells, String name) { }
    public static void main(String[] args) {
        Pair pair = new Pair(new int[2], "a");
        for (int i = 0; i < 2; i++) new Thread(() -> pair.cells()[0]++).start(); // wrong
    }
}

class RecordRight {
    record Pair(int[] cells, String name) { void add() { synchronized (this) { cells[0]++; } } }
    public static void main(String[] args) {
        Pair pair = new Pair(new int[2], "a");
        for (int i = 0; i < 2; i++) new Thread(() -> { pair.add(); pair.toString(); }).start();
    }
}

class EnumWrong {
    enum Lamp { RED, GREEN; int n; void blink() { n++; } } // wrong
    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) new Thread(() -> { for (Lamp l : Lamp.values()) l.blink(); }).start();
    }
}

class EnumRight {
    enum Lamp { RED, GREEN; int n; synchronized void blink() { n++; } }
    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) new Thread(() -> { for (Lamp l : Lamp.values()) l.blink(); }).start();
    }
}

class ConcatenationWrong {
    static class C { int shown; public String toString() { return "" + shown++; } } // wrong
    public static void main(String[] args) {
        C c = new C();
        for (int i = 0; i < 2; i++) new Thread(() -> { String s = "c: " + c; }).start();
    }
}

class ConcatenationRight {
    static class C { int shown; public synchronized String toString() { return "" + shown++; } }
    public static void main(String[] args) {
        C c = new C();
        for (int i = 0; i < 2; i++) new Thread(() -> { String s = "c: " + c; }).start();
    }
}
