import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import java.util.concurrent.locks.*;

/** Repaired twins of programs that are wrong: each differs from its twin by what its rule speaks of. */
class RetriedRight {
    static class Worker extends Thread {
        static int total;
        public void run() { synchronized (Worker.class) { total++; } }
    }
    static void make() throws Exception { new Worker().start(); if (Math.random() > 2) throw new Exception(); }
    public static void main(String[] args) throws Exception { try { make(); } catch (Exception e) { make(); } }
}

class MadeOnceRight {
    static int total;
    public static void main(String[] args) {
        Object own = new Object();
        for (int i = 0; i < 3; i++) new Thread(() -> { synchronized (own) { total++; } }).start();
    }
}

class MadeOftenWrong {
    static int total;
    public static void main(String[] args) {
        for (int i = 0; i < 3; i++) {
            Object own = new Object();
            new Thread(() -> { synchronized (own) { total++; } }).start(); // wrong
        }
    }
}

class PeriodicRight {
    static int total;
    static class Tick extends TimerTask { public void run() { synchronized (Tick.class) { total++; } } }
    public static void main(String[] args) {
        new Timer().schedule(new Tick(), 0, 1);
        synchronized (Tick.class) { total++; }
    }
}

class EntryCalledRight {
    static class Worker extends Thread {
        static int total;
        public void run() { synchronized (Worker.class) { total++; } }
    }
    public static void main(String[] args) { Worker w = new Worker(); w.start(); w.run(); }
}

class JoinAfterStartRight {
    static int n;
    static Thread t = new Thread(() -> { for (int i = 0; i < 100; i++) n++; });
    public static void main(String[] args) throws Exception { t.start(); t.join(); n++; }
}

class TwoStartersRight {
    static int n;
    static synchronized void add() { n++; }
    static class B extends Thread { public void run() { add(); } }
    static class A extends Thread { public void run() { add(); new B().start(); } }
    public static void main(String[] args) { new B().start(); new A().start(); }
}

class PeerRight {
    static class W extends Thread {
        int count;
        W peer;
        public void run() { if (peer != null) peer.add(); }
        synchronized void add() { count++; }
    }
    public static void main(String[] args) {
        W one = new W();
        W two = new W();
        one.peer = two;
        one.start();
        two.add();
        two.start();
    }
}

class JoinUnderOwnMonitorRight {
    static class W extends Thread { int n; public void run() { synchronized (this) { n = 10; } } }
    static W w = new W();
    public static void main(String[] args) throws Exception {
        W t = w;
        t.start();
        t.join();
        synchronized (t) { int before = t.n; t.n = before + 1; }
    }
}

class ShallowCopyRight {
    static class C {
        int[] a = new int[1];
        synchronized void renew() { this.a = new int[1]; }
        synchronized void add() { a[0]++; }
    }
    public static void main(String[] args) {
        C one = new C();
        C two = new C();
        new Thread(() -> { one.add(); one.renew(); }).start();
        new Thread(() -> { two.add(); one.add(); }).start();
    }
}

class LockWrittenOnceRight {
    static class C extends Thread {
        final Object lock;
        int own;
        C() { lock = new Object(); start(); }
        public void run() { synchronized (lock) { own++; } }
        void more() { synchronized (lock) { own++; } }
    }
    public static void main(String[] args) { for (int i = 0; i < 3; i++) new C().more(); }
}

class PublishedThenWrittenRight {
    static C shared;
    static final Object lock = new Object();
    static class C { int n; C() { n++; } }
    public static void main(String[] args) {
        new Thread(() -> { C c; synchronized (lock) { c = shared; } if (c != null) synchronized (lock) { c.n++; } }).start();
        C c = new C();
        synchronized (lock) { shared = c; }
    }
}

class FinalBeforeEscapeRight {
    static volatile C shared;
    static class C { final int n; C() { n = 5; shared = this; } }
    public static void main(String[] args) {
        new Thread(() -> { C c = shared; if (c != null) System.out.println(c.n); }).start();
        new C();
    }
}

class GivenBackRight {
    static class C { int n; synchronized void add() { n++; } }
    public static void main(String[] args) {
        C c = new C();
        Runnable r = () -> { for (int i = 0; i < 99; i++) Objects.requireNonNull(c).add(); };
        new Thread(r).start();
        new Thread(r).start();
    }
}

class ArrayCopyRight {
    static class Box {
        private final int[] a = new int[2];
        synchronized void set(int v) { a[0] = v; a[1] = v; }
        synchronized void fill(int[] from) { System.arraycopy(from, 0, a, 0, 2); }
    }
    public static void main(String[] args) {
        Box box = new Box();
        new Thread(() -> box.set(1)).start();
        new Thread(() -> box.fill(new int[2])).start();
    }
}

class ViewRight {
    static class Book {
        private final Map<String, String> map = new HashMap<>();
        synchronized void put(String k) { map.put(k, k); }
        synchronized void show() { for (String k : map.keySet()) System.out.println(k); }
    }
    public static void main(String[] args) {
        Book book = new Book();
        new Thread(() -> book.put("a")).start();
        new Thread(() -> book.show()).start();
    }
}

class FormatRight {
    static final java.text.SimpleDateFormat format = new java.text.SimpleDateFormat("yyyy");
    public static void main(String[] args) {
        Runnable r = () -> { String s; synchronized (FormatRight.class) { s = format.format(new Date()); } };
        new Thread(r).start();
        new Thread(r).start();
    }
}

class CaughtRight {
    static class C { int n; synchronized void add() { n++; } }
    static class Ex extends Exception { final C c; Ex(C c) { this.c = c; } }
    static void fail(C c) throws Ex { throw new Ex(c); }
    public static void main(String[] args) {
        C c = new C();
        Runnable r = () -> { try { fail(c); } catch (Ex e) { e.c.add(); } };
        new Thread(r).start();
        new Thread(r).start();
    }
}

class InitialiserRight {
    static class B { static int n; static synchronized void add() { n++; } }
    static class A { static int x; static { for (int i = 0; i < 9; i++) B.add(); } }
    public static void main(String[] args) {
        new Thread(() -> { int y = A.x; }).start();
        for (int i = 0; i < 9; i++) B.add();
    }
}

class FinalizerRight {
    static int live;
    static synchronized void count(int by) { live += by; }
    static class C { C() { count(1); } protected void finalize() { count(-1); } }
    public static void main(String[] args) { for (int i = 0; i < 99; i++) new C(); }
}

class SuperStartRight {
    static int n;
    static class W extends Thread {
        W(Runnable r) { super(r); }
        public void start() { super.start(); }
        public void run() { super.run(); }
    }
    public static void main(String[] args) {
        Runnable r = () -> { synchronized (W.class) { n++; } };
        new W(r).start();
        new W(r).start();
    }
}

class PooledTaskRight {
    static int n;
    public static void main(String[] args) {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        for (int i = 0; i < 9; i++) pool.execute(() -> { synchronized (PooledTaskRight.class) { n++; } });
    }
}

class ParallelStreamRight {
    static int n;
    static synchronized void add() { n++; }
    public static void main(String[] args) { Arrays.asList(1, 2, 3).parallelStream().forEach(i -> add()); }
}

class ComputeRight {
    static int n;
    static synchronized int add() { return n++; }
    public static void main(String[] args) {
        ConcurrentHashMap<Integer, Integer> map = new ConcurrentHashMap<>();
        for (int t = 0; t < 2; t++) { int key = t; new Thread(() -> map.computeIfAbsent(key, k -> add())).start(); }
    }
}

class VolatileCountRight {
    static volatile int n;
    public static void main(String[] args) {
        Runnable r = () -> { for (int i = 0; i < 9; i++) synchronized (VolatileCountRight.class) { n++; } };
        new Thread(r).start();
        new Thread(r).start();
    }
}

class GetClassRight {
    static int n;
    static class Base { void add() { synchronized (Base.class) { n++; } } }
    static class One extends Base { }
    static class Two extends Base { }
    public static void main(String[] args) {
        One one = new One();
        Two two = new Two();
        new Thread(() -> one.add()).start();
        new Thread(() -> two.add()).start();
    }
}

class TernaryLockRight {
    static int n;
    static final Object one = new Object();
    static void add(boolean which) { synchronized (one) { n++; } }
    public static void main(String[] args) {
        new Thread(() -> add(true)).start();
        new Thread(() -> add(false)).start();
    }
}

class GridRight {
    static final int[][] grid = new int[2][2];
    static synchronized void add() { grid[0][1]++; }
    public static void main(String[] args) { for (int i = 0; i < 2; i++) new Thread(() -> add()).start(); }
}

class LeakedBySuperRight {
    static List<Base> all = new ArrayList<>();
    static class Base { int n; synchronized void add() { n++; } }
    static class Sub extends Base { Sub() { n = 5; } }
    static void put(Base b) { synchronized (all) { all.add(b); } }
    public static void main(String[] args) {
        new Thread(() -> { synchronized (all) { for (Base b : all) b.add(); } }).start();
        put(new Sub());
    }
}

class MapOfCellsRight {
    static class Cell { private int n; synchronized void add() { n++; } }
    static class Registry {
        private final Map<String, Cell> cells = new HashMap<>();
        synchronized Cell cell(String name) {
            Cell cell = cells.get(name);
            if (cell == null) { cell = new Cell(); cells.put(name, cell); }
            return cell;
        }
    }
    public static void main(String[] args) {
        Registry registry = new Registry();
        for (int i = 0; i < 2; i++) new Thread(() -> registry.cell("a").add()).start();
    }
}

class BoundedRight {
    static class Buffer {
        private final Object[] items = new Object[4];
        private int head;
        private int count;
        synchronized void put(Object o) throws InterruptedException {
            while (count == items.length) wait();
            items[(head + count) % items.length] = o;
            count++;
            notifyAll();
        }
        synchronized Object take() throws InterruptedException {
            while (count == 0) wait();
            Object o = items[head];
            head = (head + 1) % items.length;
            count--;
            notifyAll();
            return o;
        }
    }
    public static void main(String[] args) {
        Buffer buffer = new Buffer();
        new Thread(() -> { try { buffer.put("a"); } catch (InterruptedException e) { } }).start();
        new Thread(() -> { try { buffer.take(); } catch (InterruptedException e) { } }).start();
    }
}

class StaticCounterRight {
    private static int next;
    private final int id;
    StaticCounterRight() { synchronized (StaticCounterRight.class) { id = next++; } }
    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) new Thread(() -> new StaticCounterRight()).start();
    }
}

class ImmutableRight {
    static final class Range { final int low, high; Range(int low, int high) { this.low = low; this.high = high; } }
    static volatile Range current = new Range(0, 1);
    public static void main(String[] args) {
        new Thread(() -> { Range r = current; int x = r.high - r.low; }).start();
        current = new Range(1, 2);
    }
}

class AtomicInStepsRight {
    static final AtomicInteger n = new AtomicInteger();
    public static void main(String[] args) {
        Runnable r = () -> { synchronized (n) { n.set(n.get() + 1); } };
        new Thread(r).start();
        new Thread(r).start();
    }
}

class CapturedCellRight {
    public static void main(String[] args) {
        int[] cell = { 0 };
        for (int i = 0; i < 2; i++) new Thread(() -> { synchronized (cell) { cell[0]++; } }).start();
    }
}

class ClassWaitRight {
    static int n;
    static boolean ready;
    static class C {
        static synchronized void slow() throws InterruptedException { while (!ready) C.class.wait(); n++; }
        static synchronized void fast() { n++; ready = true; C.class.notifyAll(); }
    }
    public static void main(String[] args) {
        new Thread(() -> { try { C.slow(); } catch (InterruptedException e) { } }).start();
        new Thread(() -> C.fast()).start();
    }
}

class ClonedRight {
    static class C implements Cloneable {
        int[] a = new int[1];
        void add() { synchronized (ClonedRight.class) { a[0]++; } }
        C copy() { synchronized (ClonedRight.class) { try { return (C) super.clone(); } catch (CloneNotSupportedException e) { return null; } } }
    }
    public static void main(String[] args) {
        C one = new C();
        C two = one.copy();
        new Thread(() -> one.add()).start();
        new Thread(() -> two.add()).start();
    }
}

class ComparedListRight {
    static final List<String> list = new ArrayList<>();
    public static void main(String[] args) {
        List<String> other = new ArrayList<>();
        new Thread(() -> { synchronized (list) { list.add("a"); } }).start();
        new Thread(() -> { synchronized (list) { other.equals(list); } }).start();
    }
}

class ConcatenatedListRight {
    static final List<String> list = new ArrayList<>();
    public static void main(String[] args) {
        new Thread(() -> { synchronized (list) { list.add("a"); } }).start();
        new Thread(() -> { synchronized (list) { String s = "all: " + list; } }).start();
    }
}

class ContainerHandoffRight {
    static class Item { int n; }
    public static void main(String[] args) {
        BlockingQueue<Item> queue = new LinkedBlockingQueue<>();
        new Thread(() -> { Item i = new Item(); i.n++; queue.add(i); }).start();
        new Thread(() -> { Item i = queue.poll(); if (i != null) System.out.println(i.n); }).start();
    }
}

class CurrentThreadFieldRight {
    static class W extends Thread {
        int n;
        public void run() { W w = (W) Thread.currentThread(); w.add(); }
        synchronized void add() { n++; }
    }
    public static void main(String[] args) { W w = new W(); w.start(); w.add(); }
}

class DefaultMethodRight {
    interface Counting { int[] cell(); default void count() { synchronized (this) { cell()[0]++; } } }
    static class C implements Counting { final int[] cell = new int[1]; public int[] cell() { return cell; } }
    public static void main(String[] args) {
        Counting c = new C();
        for (int i = 0; i < 2; i++) new Thread(c::count).start();
    }
}

class JoinBeforeStartRight {
    static int n;
    static Thread t = new Thread(() -> { synchronized (JoinBeforeStartRight.class) { n++; } });
    public static void main(String[] args) throws Exception {
        Thread k = new Thread(() -> t.start());
        k.start();
        t.join();
        synchronized (JoinBeforeStartRight.class) { n++; }
    }
}

class LeakedByLambdaRight {
    static class C {
        int n;
        C() { n++; new Thread(() -> n++).start(); }
    }
    public static void main(String[] args) { new C(); }
}

class LoopedByHandlerRight {
    static int total;
    static class Worker extends Thread { public void run() { synchronized (Worker.class) { total++; } } }
    static void risky() { if (Math.random() > 0.5) throw new IllegalStateException(); }
    public static void main(String[] args) {
        for (;;) {
            try { new Worker().start(); risky(); return; } catch (IllegalStateException e) { }
        }
    }
}

class MainInitialiserRight {
    static class Shared { static int n; static synchronized void add() { n++; } }
    static { new Thread(() -> Shared.add()).start(); Shared.add(); }
    public static void main(String[] args) { }
}

class NestedListRight {
    static final List<List<String>> outer = new ArrayList<>();
    public static void main(String[] args) {
        List<String> inner = new ArrayList<>();
        outer.add(inner);
        new Thread(() -> { synchronized (outer) { inner.add("a"); } }).start();
        new Thread(() -> { synchronized (outer) { System.out.println(outer); } }).start();
    }
}

class NumberRight {
    static class Gauge extends Number {
        int n;
        public synchronized int intValue() { return n++; }
        public long longValue() { return 0; }
        public float floatValue() { return 0; }
        public double doubleValue() { return 0; }
    }
    public static void main(String[] args) {
        List<Number> all = new ArrayList<>();
        all.add(new Gauge());
        for (int i = 0; i < 2; i++) new Thread(() -> { Number n = all.get(0); n.intValue(); }).start();
    }
}

class OneOfTwoJoinedRight {
    static int n;
    public static void main(String[] args) throws Exception {
        Thread u = new Thread(() -> { n++; });
        u.start();
        u.join();
        Thread v = new Thread(() -> { n += 2; });
        v.start();
        v.join();
        n += 3;
    }
}

class OtherConditionRight {
    static class Box {
        private final Lock one = new ReentrantLock();
        private final Lock two = new ReentrantLock();
        private final Condition changed = two.newCondition();
        private boolean ready;
        private int n;
        void slow() throws InterruptedException {
            one.lock();
            try {
                two.lock();
                try { while (!ready) changed.await(); } finally { two.unlock(); }
                n++;
            } finally { one.unlock(); }
        }
        void wake() { two.lock(); try { ready = true; changed.signalAll(); } finally { two.unlock(); } }
        void fast() { one.lock(); try { n++; } finally { one.unlock(); } }
    }
    public static void main(String[] args) {
        Box box = new Box();
        new Thread(() -> { try { box.slow(); } catch (InterruptedException e) { } }).start();
        new Thread(() -> { box.wake(); box.fast(); }).start();
    }
}

class ReadLockWritesRight {
    static class Box {
        final ReadWriteLock rw = new ReentrantReadWriteLock();
        final Lock w = rw.writeLock();
        int n;
        void add() { w.lock(); try { n++; } finally { w.unlock(); } }
    }
    public static void main(String[] args) {
        Box box = new Box();
        for (int i = 0; i < 2; i++) new Thread(() -> box.add()).start();
    }
}

class ReusedVariableRight {
    static int n;
    public static void main(String[] args) throws Exception {
        Thread t = new Thread(() -> { n++; });
        t.start();
        t.join();
        t = new Thread(() -> { });
        t.start();
        n++;
    }
}

class RunnableTwiceRight {
    static class Task implements Runnable { int n; public synchronized void run() { n++; } }
    public static void main(String[] args) {
        Task task = new Task();
        new Thread(task).start();
        new Thread(task).start();
    }
}

class SpecificDefaultRight {
    static int n;
    static synchronized void add() { n++; }
    interface One { default void go() { } }
    interface Two extends One { default void go() { add(); } }
    static class C implements One, Two { }
    public static void main(String[] args) {
        One one = new C();
        for (int i = 0; i < 2; i++) new Thread(() -> one.go()).start();
    }
}

class StartedByStartedRight {
    static int n;
    public static void main(String[] args) throws Exception {
        n++;
        Thread outer = new Thread(() -> new Thread(() -> n++).start());
        outer.start();
    }
}

class StoredThroughCallRight {
    static class C { int n; }
    static volatile C shared;
    public static void main(String[] args) {
        new Thread(() -> { C c = shared; if (c != null) System.out.println(c.n); }).start();
        C mine = new C();
        mine.n++;
        shared = Objects.requireNonNull(mine);
    }
}

class StringsAsBuffersRight {
    static final char[] buffer = new char[9];
    public static void main(String[] args) {
        String s = "text";
        for (int i = 0; i < 2; i++) new Thread(() -> { synchronized (buffer) { s.getChars(0, 2, buffer, 0); } }).start();
    }
}

class SwappedLockRight {
    static class C {
        final Object lock = new Object();
        int n;
        void add() { synchronized (lock) { n++; } }
    }
    public static void main(String[] args) {
        C c = new C();
        for (int i = 0; i < 2; i++) new Thread(() -> c.add()).start();
    }
}

class ThrowingBlockRight {
    static class C {
        int n;
        synchronized void add() {
            try { synchronized (this) { n++; fail(); } } catch (RuntimeException e) { n--; }
        }
        void fail() { throw new RuntimeException(); }
    }
    public static void main(String[] args) {
        C c = new C();
        for (int i = 0; i < 2; i++) new Thread(c::add).start();
    }
}

class TimedJoinRight {
    static int n;
    public static void main(String[] args) throws Exception {
        Thread t = new Thread(() -> { for (int i = 0; i < 100; i++) n++; });
        t.start();
        t.join(10);
        t.join();
        n++;
    }
}

class TwoNamesOfMonitorRight {
    static class Pair {
        final Object a;
        final Object b;
        int n;
        Pair(Object m) { a = m; b = m; }
        void slow() { synchronized (a) { n++; } }
        void fast() { synchronized (a) { n++; b.notifyAll(); } }
    }
    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) {
            Pair pair = new Pair(new Object());
            new Thread(() -> pair.slow()).start();
            new Thread(() -> pair.fast()).start();
        }
    }
}

class UpgradeRight {
    static class Box {
        private final ReentrantReadWriteLock rw = new ReentrantReadWriteLock();
        private int n;
        void add() {
            rw.writeLock().lock();
            try { int before = n; n = before + 1; } finally { rw.writeLock().unlock(); }
        }
        int get() { rw.readLock().lock(); try { return n; } finally { rw.readLock().unlock(); } }
    }
    public static void main(String[] args) {
        Box box = new Box();
        for (int i = 0; i < 2; i++) new Thread(() -> { box.add(); box.get(); }).start();
    }
}

class WaitInHelperRight {
    static class C {
        boolean ready;
        int n;
        synchronized void add() throws InterruptedException { while (!ready) wait(); n++; }
        synchronized void other() { n++; ready = true; notifyAll(); }
    }
    public static void main(String[] args) {
        C c = new C();
        new Thread(() -> { try { c.add(); } catch (InterruptedException e) { } }).start();
        new Thread(() -> c.other()).start();
    }
}
