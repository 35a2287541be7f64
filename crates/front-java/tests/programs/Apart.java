import java.io.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.locks.*;

/** More pairs that one rule alone tells apart. */
class EntryMakesWrong {
    static int total;
    static class Worker extends Thread {
        public void run() { Object own = new Object(); synchronized (own) { total++; } } // wrong
    }
    public static void main(String[] args) { Worker w = new Worker(); w.start(); w.run(); }
}

class EntryMakesRight {
    static int total;
    static final Object own = new Object();
    static class Worker extends Thread {
        public void run() { synchronized (own) { total++; } }
    }
    public static void main(String[] args) { Worker w = new Worker(); w.start(); w.run(); }
}

class RunnableMakesWrong {
    static int n;
    static class Task implements Runnable {
        public void run() { Object own = new Object(); synchronized (own) { n++; } } // wrong
    }
    public static void main(String[] args) {
        Task task = new Task();
        Thread one = new Thread(task);
        Thread two = new Thread(task);
        one.start();
        two.start();
    }
}

class RunnableMakesRight {
    static int n;
    static class Task implements Runnable {
        final Object own = new Object();
        public void run() { synchronized (own) { n++; } }
    }
    public static void main(String[] args) {
        Task task = new Task();
        Thread one = new Thread(task);
        Thread two = new Thread(task);
        one.start();
        two.start();
    }
}

class PeriodicMakesWrong {
    static int n;
    static class Tick extends TimerTask {
        public void run() {
            Object own = new Object();
            new Thread(() -> { synchronized (own) { n++; } }).start(); // wrong
        }
    }
    public static void main(String[] args) { new Timer().schedule(new Tick(), 0, 1); }
}

class PeriodicMakesRight {
    static int n;
    static class Tick extends TimerTask {
        public void run() { new Thread(() -> { synchronized (Tick.class) { n++; } }).start(); }
    }
    public static void main(String[] args) { new Timer().schedule(new Tick(), 0, 1); }
}

class SubmittedTwiceWrong {
    static int n;
    public static void main(String[] args) {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        Runnable task = () -> { n++; }; // wrong
        pool.execute(task);
        pool.execute(task);
    }
}

class SubmittedTwiceRight {
    static int n;
    public static void main(String[] args) {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        Runnable task = () -> { synchronized (SubmittedTwiceRight.class) { n++; } };
        pool.execute(task);
        pool.execute(task);
    }
}

/** Nobody is seen to write the field: somebody else must. */
class InjectedWrong {
    static class Service { int n; void hit() { n++; } } // wrong
    static Service service;
    static int m;
    static synchronized void add() { m++; }
    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) new Thread(() -> { add(); service.hit(); }).start();
    }
}

class InjectedRight {
    static class Service { int n; synchronized void hit() { n++; } }
    static final Service service = new Service();
    public static void main(String[] args) { for (int i = 0; i < 2; i++) new Thread(() -> service.hit()).start(); }
}

class GivenToOtherWrong {
    static class C {
        private int[] a = new int[1];
        void give(C other) {
            int[] t = new int[1];
            synchronized (other) { other.a = t; }
            t[0]++; // wrong
        }
        synchronized void add() { a[0]++; }
    }
    public static void main(String[] args) {
        C one = new C();
        C two = new C();
        new Thread(() -> one.give(two)).start();
        new Thread(() -> two.add()).start();
    }
}

class GivenToOtherRight {
    static class C {
        private int[] a = new int[1];
        void give(C other) {
            int[] t = new int[1];
            t[0]++;
            synchronized (other) { other.a = t; }
        }
        synchronized void add() { a[0]++; }
    }
    public static void main(String[] args) {
        C one = new C();
        C two = new C();
        new Thread(() -> one.give(two)).start();
        new Thread(() -> two.add()).start();
    }
}

class GivenByStaticWrong {
    static class C {
        private int[] a = new int[1];
        static void give(C other) {
            int[] t = new int[1];
            synchronized (other) { other.a = t; }
            t[0]++; // wrong
        }
        synchronized void add() { a[0]++; }
    }
    public static void main(String[] args) {
        C two = new C();
        new Thread(() -> C.give(two)).start();
        new Thread(() -> two.add()).start();
    }
}

class GivenByStaticRight {
    static class C {
        private int[] a = new int[1];
        static void give(C other) {
            int[] t = new int[1];
            t[0]++;
            synchronized (other) { other.a = t; }
        }
        synchronized void add() { a[0]++; }
    }
    public static void main(String[] args) {
        C two = new C();
        new Thread(() -> C.give(two)).start();
        new Thread(() -> two.add()).start();
    }
}

class HeldByTwoWrong {
    static class D { int[] b; }
    static class C {
        private int[] a;
        C(D d) { int[] t = new int[1]; a = t; d.b = t; }
        synchronized void add() { a[0]++; } // wrong
    }
    public static void main(String[] args) {
        D d = new D();
        C c = new C(d);
        new Thread(() -> c.add()).start();
        new Thread(() -> { synchronized (d) { d.b[0]++; } }).start(); // wrong
    }
}

class HeldByTwoRight {
    static class D { int[] b; }
    static class C {
        private int[] a;
        C(D d) { int[] t = new int[1]; a = t; d.b = new int[1]; }
        synchronized void add() { a[0]++; }
    }
    public static void main(String[] args) {
        D d = new D();
        C c = new C(d);
        for (int i = 0; i < 2; i++) {
            new Thread(() -> c.add()).start();
            new Thread(() -> { synchronized (d) { d.b[0]++; } }).start();
        }
    }
}

class GrownWrong {
    static class Names {
        private String[] all = new String[2];
        private int count;
        synchronized void add(String one) {
            if (count == all.length) all = Arrays.copyOf(all, 2 * count);
            all[count++] = one;
        }
        String first() { return all[0]; } // wrong
    }
    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) {
            Names names = new Names();
            new Thread(() -> names.add("a")).start();
            new Thread(() -> names.first()).start();
        }
    }
}

class GrownRight {
    static class Names {
        private String[] all = new String[2];
        private int count;
        synchronized void add(String one) {
            if (count == all.length) all = Arrays.copyOf(all, 2 * count);
            all[count++] = one;
        }
        synchronized String first() { return all[0]; }
    }
    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) {
            Names names = new Names();
            new Thread(() -> names.add("a")).start();
            new Thread(() -> names.first()).start();
        }
    }
}

class OtherPoolWaitedWrong {
    static int n;
    static synchronized void add() { n++; }
    public static void main(String[] args) throws InterruptedException {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        ExecutorService other = Executors.newFixedThreadPool(2);
        for (int i = 0; i < 9; i++) pool.execute(() -> add());
        pool.shutdown();
        other.shutdown();
        other.awaitTermination(1, TimeUnit.DAYS);
        System.out.println(n); // wrong
    }
}

class OtherPoolWaitedRight {
    static int n;
    static synchronized void add() { n++; }
    public static void main(String[] args) throws InterruptedException {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        ExecutorService other = Executors.newFixedThreadPool(2);
        for (int i = 0; i < 9; i++) pool.execute(() -> add());
        pool.shutdown();
        other.shutdown();
        pool.awaitTermination(1, TimeUnit.DAYS);
        System.out.println(n);
    }
}

class PutByCalleeWrong {
    static C shared;
    static class C { int n; }
    static void put(C c) { synchronized (C.class) { shared = c; } }
    static C get() { synchronized (C.class) { return shared; } }
    public static void main(String[] args) {
        new Thread(() -> { C c = get(); if (c != null) synchronized (c) { c.n++; } }).start();
        C c = new C();
        put(c);
        c.n++; // wrong
    }
}

class PutByCalleeRight {
    static C shared;
    static class C { int n; }
    static void put(C c) { synchronized (C.class) { shared = c; } }
    static C get() { synchronized (C.class) { return shared; } }
    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) new Thread(() -> { C c = get(); if (c != null) synchronized (c) { c.n++; } }).start();
        C c = new C();
        c.n++;
        put(c);
    }
}

class PutInArrayWrong {
    static final C[] all = new C[1];
    static class C { int n; }
    static C get() { synchronized (all) { return all[0]; } }
    public static void main(String[] args) {
        new Thread(() -> { C c = get(); if (c != null) synchronized (c) { c.n++; } }).start();
        C c = new C();
        synchronized (all) { all[0] = c; }
        c.n++; // wrong
    }
}

class PutInArrayRight {
    static final C[] all = new C[1];
    static class C { int n; }
    static C get() { synchronized (all) { return all[0]; } }
    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) new Thread(() -> { C c = get(); if (c != null) synchronized (c) { c.n++; } }).start();
        C c = new C();
        c.n++;
        synchronized (all) { all[0] = c; }
    }
}

/** A field of a class outside. */
class PutOutsideWrong {
    static class C extends InputStream { int n; public int read() { return 0; } }
    static class Box extends FilterInputStream {
        Box() { super(null); }
        synchronized void put(C c) { in = c; }
        synchronized C get() { return (C) in; }
    }
    public static void main(String[] args) {
        Box box = new Box();
        new Thread(() -> { C c = box.get(); if (c != null) synchronized (c) { c.n++; } }).start();
        C c = new C();
        box.put(c);
        c.n++; // wrong
    }
}

class PutOutsideRight {
    static class C extends InputStream { int n; public int read() { return 0; } }
    static class Box extends FilterInputStream {
        Box() { super(null); }
        synchronized void put(C c) { in = c; }
        synchronized C get() { return (C) in; }
    }
    public static void main(String[] args) {
        Box box = new Box();
        new Thread(() -> { C c = box.get(); if (c != null) synchronized (c) { c.n++; } }).start();
        C c = new C();
        box.put(c);
        synchronized (c) { c.n++; }
    }
}

class ReadWriteCycleWrong {
    static int n;
    static final ReadWriteLock rw = new ReentrantReadWriteLock();
    static final Object own = new Object();
    public static void main(String[] args) {
        new Thread(() -> { rw.writeLock().lock(); synchronized (own) { n++; } rw.writeLock().unlock(); }).start(); // wrong
        new Thread(() -> { synchronized (own) { rw.readLock().lock(); n++; rw.readLock().unlock(); } }).start(); // wrong
    }
}

class ReadWriteCycleRight {
    static int m;
    static int n;
    static final ReadWriteLock rw = new ReentrantReadWriteLock();
    static final Object own = new Object();
    public static void main(String[] args) {
        new Thread(() -> { synchronized (own) { m++; rw.writeLock().lock(); n++; rw.writeLock().unlock(); } }).start();
        new Thread(() -> { synchronized (own) { m++; rw.readLock().lock(); System.out.println(n); rw.readLock().unlock(); } }).start();
    }
}

class StartedInReverseWrong {
    static int n;
    public static void main(String[] args) {
        Thread one = new Thread(() -> { n++; }); // wrong
        Thread two = new Thread(() -> { n--; }); // wrong
        two.start();
        one.start();
    }
}

class StartedInReverseRight {
    static int n;
    static synchronized void add() { n++; }
    public static void main(String[] args) throws InterruptedException {
        Thread one = new Thread(() -> { n++; });
        Thread two = new Thread(() -> { n--; });
        two.start();
        two.join();
        one.start();
        one.join();
        new Thread(() -> add()).start();
        add();
    }
}

class PeerOfKindWrong {
    static class W extends Thread {
        W peer;
        int n;
        public void run() { W p = peer; if (p != null) synchronized (p) { p.n++; } }
    }
    public static void main(String[] args) {
        W[] all = new W[2];
        for (int i = 0; i < 2; i++) all[i] = new W();
        all[0].peer = all[1];
        all[0].start();
        all[1].n++; // wrong
        all[1].start();
    }
}

class PeerOfKindRight {
    static class W extends Thread {
        W peer;
        int n;
        public void run() { W p = peer; if (p != null) synchronized (p) { p.n++; } }
    }
    public static void main(String[] args) {
        W[] all = new W[2];
        for (int i = 0; i < 2; i++) all[i] = new W();
        all[0].peer = all[1];
        all[1].n++;
        all[0].start();
        all[1].start();
    }
}

class LengthFailsWrong {
    static int n;
    static void look(int[] a) {
        try { int x = a.length; } catch (NullPointerException e) {
            n++; // wrong
        }
    }
    public static void main(String[] args) { for (int i = 0; i < 2; i++) new Thread(() -> look(null)).start(); }
}

class LoadFailsWrong {
    static int n;
    static void look(int[] a) {
        try { int x = a[5]; } catch (ArrayIndexOutOfBoundsException e) {
            n++; // wrong
        }
    }
    public static void main(String[] args) { for (int i = 0; i < 2; i++) new Thread(() -> look(new int[1])).start(); }
}

class StoreFailsWrong {
    static int n;
    static void put(int[] a) {
        try { a[5] = 1; } catch (ArrayIndexOutOfBoundsException e) {
            n++; // wrong
        }
    }
    public static void main(String[] args) { for (int i = 0; i < 2; i++) new Thread(() -> put(new int[1])).start(); }
}

class DivisionFailsWrong {
    static int n;
    static void divide(int by) {
        try { int x = 1 / by; } catch (ArithmeticException e) {
            n++; // wrong
        }
    }
    public static void main(String[] args) { for (int i = 0; i < 2; i++) new Thread(() -> divide(0)).start(); }
}

class CastFailsWrong {
    static int n;
    static void cast(Object one) {
        try { String x = (String) one; } catch (ClassCastException e) {
            n++; // wrong
        }
    }
    public static void main(String[] args) { for (int i = 0; i < 2; i++) new Thread(() -> cast(new Object())).start(); }
}

class NewArrayFailsWrong {
    static int n;
    static void make(int size) {
        try { int[] x = new int[size]; } catch (NegativeArraySizeException e) {
            n++; // wrong
        }
    }
    public static void main(String[] args) { for (int i = 0; i < 2; i++) new Thread(() -> make(-1)).start(); }
}

class MonitorFailsWrong {
    static int n;
    static void enter(Object one) {
        try { synchronized (one) { } } catch (NullPointerException e) {
            n++; // wrong
        }
    }
    public static void main(String[] args) { for (int i = 0; i < 2; i++) new Thread(() -> enter(null)).start(); }
}

class FieldFailsWrong {
    static int n;
    int own;
    static void look(FieldFailsWrong one) {
        try { int x = one.own; } catch (NullPointerException e) {
            n++; // wrong
        }
    }
    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) { FieldFailsWrong one = i > 1 ? new FieldFailsWrong() : null; new Thread(() -> look(one)).start(); }
    }
}

/** What instructions fail with is none of what has to be declared. */
class AllFailRight {
    static int n;
    static synchronized void add() { n++; }
    int own;
    static void all(int[] a, Object one, AllFailRight two, int by) {
        try {
            int x = a.length + a[5] + 1 / by + two.own;
            a[5] = x;
            int[] more = new int[by];
            String text = (String) one;
        } catch (RuntimeException e) { add(); }
    }
    static void sleep(int[] a) {
        try { a[5] = 1; Thread.sleep(a[0]); } catch (InterruptedException e) { n++; }
    }
    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) new Thread(() -> { all(new int[1], new Object(), new AllFailRight(), 0); sleep(new int[6]); }).start();
    }
}

class ShownByCalleeWrong {
    static final List<List<String>> outer = new ArrayList<>();
    static void show() { System.out.println(outer); } // wrong
    public static void main(String[] args) {
        List<String> inner = new ArrayList<>();
        outer.add(inner);
        new Thread(() -> { synchronized (inner) { inner.add("a"); } }).start();
        new Thread(() -> show()).start();
    }
}

class ShownByCalleeRight {
    static final List<List<String>> outer = new ArrayList<>();
    static void show() { synchronized (outer) { System.out.println(outer); } }
    public static void main(String[] args) {
        List<String> inner = new ArrayList<>();
        outer.add(inner);
        new Thread(() -> { synchronized (outer) { inner.add("a"); } }).start();
        new Thread(() -> show()).start();
    }
}

class CallInitialisesWrong {
    static class Shared { static int n; }
    static class Lazy { static { Shared.n++; } static void go() { } } // wrong
    public static void main(String[] args) {
        new Thread(() -> { Lazy.go(); }).start();
        Shared.n++; // wrong
    }
}

class CallInitialisesRight {
    static class Shared { static int n; static synchronized void add() { n++; } }
    static class Lazy { static { Shared.add(); } static void go() { } }
    public static void main(String[] args) {
        new Thread(() -> { Lazy.go(); }).start();
        Shared.add();
    }
}

class AddedAllWrong {
    static class C { int n; }
    public static void main(String[] args) {
        List<C> one = new ArrayList<>();
        one.add(new C());
        List<C> two = new ArrayList<>();
        two.addAll(one);
        for (int i = 0; i < 2; i++) new Thread(() -> { two.get(0).n++; }).start(); // wrong
    }
}

class AddedAllRight {
    static class C { int n; synchronized void add() { n++; } }
    public static void main(String[] args) {
        List<C> one = new ArrayList<>();
        one.add(new C());
        List<C> two = new ArrayList<>();
        two.addAll(one);
        for (int i = 0; i < 2; i++) new Thread(() -> { two.get(0).add(); }).start();
    }
}

class TwoNamesAwaitWrong {
    static class Box {
        final ReentrantLock one;
        final ReentrantLock two;
        final Condition changed;
        int n;
        Box(ReentrantLock lock) { one = lock; two = lock; changed = two.newCondition(); }
        void slow() throws InterruptedException {
            one.lock();
            two.lock();
            try { int before = n; changed.await(); n = before + 1; } finally { two.unlock(); one.unlock(); } // wrong
        }
        void fast() { one.lock(); try { n++; changed.signalAll(); } finally { one.unlock(); } }
    }
    public static void main(String[] args) {
        Box box = new Box(new ReentrantLock());
        new Thread(() -> { try { box.slow(); } catch (InterruptedException e) { } }).start();
        new Thread(() -> box.fast()).start();
    }
}

class TwoNamesAwaitRight {
    static class Box {
        final ReentrantLock one;
        final Condition changed;
        int n;
        Box(ReentrantLock lock) { one = lock; changed = one.newCondition(); }
        void slow() throws InterruptedException {
            one.lock();
            try { changed.await(); n++; } finally { one.unlock(); }
        }
        void fast() { one.lock(); try { n++; changed.signalAll(); } finally { one.unlock(); } }
    }
    public static void main(String[] args) {
        Box box = new Box(new ReentrantLock());
        new Thread(() -> { try { box.slow(); } catch (InterruptedException e) { } }).start();
        new Thread(() -> box.fast()).start();
    }
}

class SizeInStepsWrong {
    static class Shop {
        final ConcurrentHashMap<String, String> stock = new ConcurrentHashMap<>();
        void put(String one) { stock.put(one, one); }
        int count() { return stock.size(); } // wrong
    }
    public static void main(String[] args) {
        Shop shop = new Shop();
        new Thread(() -> shop.put("a")).start();
        new Thread(() -> shop.count()).start();
    }
}

class SizeInStepsRight {
    static class Shop {
        final ConcurrentHashMap<String, String> stock = new ConcurrentHashMap<>();
        synchronized void put(String one) { stock.put(one, one); }
        synchronized int count() { return stock.size(); }
    }
    public static void main(String[] args) {
        Shop shop = new Shop();
        new Thread(() -> shop.put("a")).start();
        new Thread(() -> shop.count()).start();
    }
}

class ArrayFilledWrong {
    static class Box {
        private final int[] a = new int[2];
        synchronized int first() { return a[0]; }
        void fill(int[] from) { System.arraycopy(from, 0, a, 0, 2); } // wrong
    }
    public static void main(String[] args) {
        Box box = new Box();
        new Thread(() -> box.first()).start();
        new Thread(() -> box.fill(new int[2])).start();
    }
}

class ArrayFilledRight {
    static class Box {
        private final int[] a = new int[2];
        synchronized int first() { return a[0]; }
        synchronized void fill(int[] from) { System.arraycopy(from, 0, a, 0, 2); }
    }
    public static void main(String[] args) {
        Box box = new Box();
        new Thread(() -> box.first()).start();
        new Thread(() -> box.fill(new int[2])).start();
    }
}

class OnlyOutsideWrong {
    static class Task implements Runnable { int n; public void run() { n++; } } // wrong
    public static void main(String[] args) {
        Collections.nCopies(9, new Task()).parallelStream().forEach(task -> task.run());
    }
}

class OnlyOutsideRight {
    static class Task implements Runnable { int n; public synchronized void run() { n++; } }
    public static void main(String[] args) {
        Collections.nCopies(9, new Task()).parallelStream().forEach(task -> task.run());
    }
}

abstract class ApartBase {
    abstract int get();
    abstract void set(int v);
    void add() { set(get() + 1); }
}

class UnitAboveWrong {
    static class C extends ApartBase {
        private int n;
        synchronized int get() { return n; } // wrong
        synchronized void set(int v) { n = v; } // wrong
    }
    public static void main(String[] args) {
        C c = new C();
        for (int i = 0; i < 2; i++) new Thread(() -> c.add()).start();
    }
}

class UnitAboveRight {
    static class C extends ApartBase {
        private int n;
        int get() { return n; }
        void set(int v) { n = v; }
        synchronized void add() { super.add(); }
    }
    public static void main(String[] args) {
        C c = new C();
        for (int i = 0; i < 2; i++) new Thread(() -> c.add()).start();
    }
}

class UnitOfNestWrong {
    static class Stock {
        private int n;
        synchronized void take() { n--; } // wrong
        synchronized int left() { return n; } // wrong
    }
    static void takeOne(Stock stock) { if (stock.left() > 0) stock.take(); }
    public static void main(String[] args) {
        Stock stock = new Stock();
        for (int i = 0; i < 2; i++) new Thread(() -> takeOne(stock)).start();
    }
}

class UnitOfNestRight {
    static class Stock {
        private int n;
        void take() { n--; }
        int left() { return n; }
    }
    static void takeOne(Stock stock) { synchronized (stock) { if (stock.left() > 0) stock.take(); } }
    public static void main(String[] args) {
        Stock stock = new Stock();
        for (int i = 0; i < 2; i++) new Thread(() -> takeOne(stock)).start();
    }
}
