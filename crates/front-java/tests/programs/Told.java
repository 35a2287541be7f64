import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.locks.*;

/** Pairs that one rule alone tells apart: whatever else could be found at the marked lines is guarded. */
class RenewedTwiceWrong {
    static class C extends Thread {
        private Object lock;
        int own;
        C() {
            synchronized (C.class) { lock = new Object(); }
            start();
            synchronized (C.class) { lock = new Object(); }
        }
        Object lock() { synchronized (C.class) { return lock; } }
        public void run() {
            Object held = lock();
            synchronized (held) { own++; } // wrong
        }
    }
    public static void main(String[] args) { for (int i = 0; i < 2; i++) new C().run(); }
}

class RenewedTwiceRight {
    static class C extends Thread {
        private Object lock;
        int own;
        C() {
            lock = new Object();
            start();
        }
        Object lock() { return lock; }
        public void run() {
            Object held = lock();
            synchronized (held) { own++; }
        }
    }
    public static void main(String[] args) { for (int i = 0; i < 2; i++) new C().run(); }
}

class RenewedLaterWrong {
    static class C {
        private Object lock = new Object();
        int own;
        private synchronized Object lock() { return lock; }
        synchronized void renew() { lock = new Object(); }
        private void add() {
            Object held = lock();
            synchronized (held) { own++; } // wrong
        }
    }
    public static void main(String[] args) {
        C c = new C();
        for (int i = 0; i < 2; i++) new Thread(() -> { c.add(); c.renew(); }).start();
    }
}

class RenewedLaterRight {
    static class C {
        private Object lock = new Object();
        int own;
        private Object lock() { return lock; }
        private void add() {
            Object held = lock();
            synchronized (held) { own++; }
        }
    }
    public static void main(String[] args) {
        C c = new C();
        for (int i = 0; i < 2; i++) new Thread(() -> { c.add(); }).start();
    }
}

class RenewedByOtherWrong {
    static class C {
        private Object lock;
        int own;
        C() { lock = new Object(); }
        C(C other) { synchronized (other) { other.lock = new Object(); } }
        private synchronized Object lock() { return lock; }
        private void add() {
            Object held = lock();
            synchronized (held) { own++; } // wrong
        }
    }
    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) {
            C c = new C();
            for (int k = 0; k < 2; k++) new Thread(() -> { c.add(); new C(c); }).start();
        }
    }
}

class RenewedByOtherRight {
    static class C {
        private Object lock;
        int own;
        C() { lock = new Object(); }
        C(C other) { lock = new Object(); }
        private Object lock() { return lock; }
        private void add() {
            Object held = lock();
            synchronized (held) { own++; }
        }
    }
    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) {
            C c = new C();
            for (int k = 0; k < 2; k++) new Thread(() -> { c.add(); new C(c); }).start();
        }
    }
}

class RenewedByChainWrong {
    static class C extends Thread {
        private Object lock;
        int own;
        C() { synchronized (C.class) { lock = new Object(); } start(); }
        C(int more) { this(); synchronized (C.class) { lock = new Object(); } }
        Object lock() { synchronized (C.class) { return lock; } }
        public void run() {
            Object held = lock();
            synchronized (held) { own++; } // wrong
        }
    }
    public static void main(String[] args) { for (int i = 0; i < 2; i++) new C(1).run(); }
}

class RenewedByChainRight {
    static class C extends Thread {
        private Object lock;
        int own;
        C() { lock = new Object(); start(); }
        C(int more) { this(); }
        Object lock() { return lock; }
        public void run() {
            Object held = lock();
            synchronized (held) { own++; }
        }
    }
    public static void main(String[] args) { for (int i = 0; i < 2; i++) new C(1).run(); }
}

class RenewedBelowWrong {
    static class C extends Thread {
        protected Object lock;
        int own;
        C() { synchronized (C.class) { lock = new Object(); } start(); }
        Object lock() { synchronized (C.class) { return lock; } }
        public void run() {
            Object held = lock();
            synchronized (held) { own++; } // wrong
        }
    }
    static class D extends C { D() { synchronized (C.class) { lock = new Object(); } } }
    public static void main(String[] args) { for (int i = 0; i < 2; i++) new D().run(); }
}

class RenewedBelowRight {
    static class C extends Thread {
        protected Object lock;
        int own;
        C() { lock = new Object(); start(); }
        Object lock() { return lock; }
        public void run() {
            Object held = lock();
            synchronized (held) { own++; }
        }
    }
    static class D extends C { }
    public static void main(String[] args) { for (int i = 0; i < 2; i++) new D().run(); }
}

class ThrownAfterStartWrong {
    static int n;
    static void begin(int[] a) { new Thread(() -> { n++; }).start(); a[5] = 1; }
    public static void main(String[] args) {
        try { begin(new int[1]); } catch (ArrayIndexOutOfBoundsException e) {
            n++; // wrong
        }
    }
}

class ThrownAfterStartRight {
    static int n;
    static Thread t;
    static void begin(int[] a) { t = new Thread(() -> { n++; }); t.start(); a[5] = 1; }
    public static void main(String[] args) throws InterruptedException {
        try { begin(new int[1]); } catch (ArrayIndexOutOfBoundsException e) {
            t.join();
            n++;
        }
    }
}

class GatheringFailsWrong {
    static int n;
    static synchronized int add() { return n++; }
    public static void main(String[] args) throws InterruptedException {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        List<Callable<Integer>> tasks = new ArrayList<>();
        for (int i = 0; i < 3; i++) tasks.add(i < 2 ? () -> add() : null);
        try { pool.invokeAll(tasks); } catch (NullPointerException e) {
            System.out.println(n); // wrong
        }
    }
}

class GatheringFailsRight {
    static int n;
    static synchronized int add() { return n++; }
    public static void main(String[] args) throws InterruptedException {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        List<Callable<Integer>> tasks = new ArrayList<>();
        for (int i = 0; i < 3; i++) tasks.add(i < 2 ? () -> add() : null);
        try { pool.invokeAll(tasks); System.out.println(n); } catch (NullPointerException e) { }
    }
}

class InitialisedAboveWrong {
    static class Shared { static int n; }
    static class Above { static { Shared.n++; } } // wrong
    static class Below extends Above { static int x; }
    public static void main(String[] args) {
        new Thread(() -> { Below.x = 1; }).start();
        Shared.n++; // wrong
    }
}

class InitialisedAboveRight {
    static class Shared { static int n; static synchronized void add() { n++; } }
    static class Above { static { Shared.add(); } }
    static class Below extends Above { static int x; }
    public static void main(String[] args) {
        new Thread(() -> { Below.x = 1; }).start();
        Shared.add();
    }
}

class FunctionInitialisesWrong {
    static class Shared { static int n; }
    static class Lazy { static { Shared.n++; } static void go() { } } // wrong
    public static void main(String[] args) {
        Runnable r = Lazy::go;
        new Thread(() -> r.run()).start();
        Shared.n++; // wrong
    }
}

class FunctionInitialisesRight {
    static class Shared { static int n; static synchronized void add() { n++; } }
    static class Lazy { static { Shared.add(); } static void go() { } }
    public static void main(String[] args) {
        Runnable r = Lazy::go;
        new Thread(() -> r.run()).start();
        Shared.add();
    }
}

class FinalSeenChangingWrong {
    static volatile C shared;
    static class C {
        final int n;
        C() {
            shared = this;
            n = 5; // wrong
        }
    }
    public static void main(String[] args) {
        new Thread(() -> { C c = shared; if (c != null) System.out.println(c.n); }).start();
        new C();
    }
}

class OtherFutureWrong {
    static int n;
    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        Future<?> one = pool.submit(() -> { n++; });
        Future<?> two = pool.submit(() -> { });
        two.get();
        n++; // wrong
    }
}

class OtherFutureRight {
    static int n;
    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        Future<?> one = pool.submit(() -> { n++; });
        Future<?> two = pool.submit(() -> { });
        one.get();
        n++;
    }
}

class LastJoinedWrong {
    static int n;
    static synchronized void add() { n++; }
    public static void main(String[] args) throws InterruptedException {
        Thread t = null;
        for (int i = 0; i < 3; i++) { t = new Thread(() -> add()); t.start(); }
        t.join();
        n++; // wrong
    }
}

class LastJoinedRight {
    static int n;
    static void add() { n++; }
    public static void main(String[] args) throws InterruptedException {
        Thread t = new Thread(() -> { for (int i = 0; i < 3; i++) add(); });
        t.start();
        t.join();
        n++;
    }
}

class EitherJoinedWrong {
    static int n;
    static synchronized void add() { n++; }
    public static void main(String[] args) throws InterruptedException {
        Thread u = new Thread(() -> { for (int i = 0; i < 3; i++) add(); });
        Thread v = new Thread(() -> { });
        u.start();
        v.start();
        (args.length > 0 ? u : v).join();
        n++; // wrong
    }
}

class EitherJoinedRight {
    static int n;
    static void add() { n++; }
    public static void main(String[] args) throws InterruptedException {
        Thread u = new Thread(() -> { for (int i = 0; i < 3; i++) add(); });
        Thread v = new Thread(() -> { });
        u.start();
        v.start();
        u.join();
        n++;
    }
}

class GroupInterruptsWrong {
    static int n;
    public static void main(String[] args) {
        Thread t = new Thread(() -> { n++; });
        ThreadGroup group = new ThreadGroup("g");
        new Thread(group, () -> {
            t.start();
            try { t.join(); } catch (InterruptedException e) { }
            n++; // wrong
        }).start();
        group.interrupt();
    }
}

class GroupInterruptsRight {
    static int n;
    public static void main(String[] args) {
        Thread t = new Thread(() -> { n++; });
        ThreadGroup group = new ThreadGroup("g");
        new Thread(group, () -> {
            t.start();
            try { t.join(); } catch (InterruptedException e) { }
            n++;
        }).start();
    }
}

class AnyOfTasksWrong {
    static int n;
    static int pause() {
        try { Thread.sleep(1000); } catch (InterruptedException e) {
            n++; // wrong
        }
        return 0;
    }
    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(3);
        List<Callable<Integer>> tasks = new ArrayList<>();
        tasks.add(() -> 1);
        for (int i = 0; i < 2; i++) tasks.add(() -> pause());
        pool.invokeAny(tasks);
    }
}

class AnyOfTasksRight {
    static int n;
    static synchronized void add() { n++; }
    static int pause() {
        try { Thread.sleep(1000); } catch (InterruptedException e) {
            add();
        }
        return 0;
    }
    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(3);
        List<Callable<Integer>> tasks = new ArrayList<>();
        tasks.add(() -> 1);
        for (int i = 0; i < 2; i++) tasks.add(() -> pause());
        pool.invokeAny(tasks);
    }
}

class GatheredInTimeWrong {
    static int n;
    static int pause() {
        try { Thread.sleep(1000); } catch (InterruptedException e) {
            n++; // wrong
        }
        return 0;
    }
    public static void main(String[] args) throws InterruptedException {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        List<Callable<Integer>> tasks = new ArrayList<>();
        for (int i = 0; i < 2; i++) tasks.add(() -> pause());
        pool.invokeAll(tasks, 1, TimeUnit.MILLISECONDS);
    }
}

class GatheredInTimeRight {
    static int n;
    static int pause() {
        try { Thread.sleep(1000); } catch (InterruptedException e) {
            n++;
        }
        return 0;
    }
    public static void main(String[] args) throws InterruptedException {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        List<Callable<Integer>> tasks = new ArrayList<>();
        for (int i = 0; i < 2; i++) tasks.add(() -> pause());
        pool.invokeAll(tasks);
    }
}

class HeldThreadsInterruptedWrong {
    static final Thread[] all = new Thread[2];
    static int n;
    static synchronized void add() { n++; }
    public static void main(String[] args) {
        for (int i = 0; i < all.length; i++) { all[i] = new Thread(() -> add()); all[i].start(); }
        Thread.currentThread().interrupt();
        for (int i = 0; i < all.length; i++) try { all[i].join(); } catch (InterruptedException e) { }
        n++; // wrong
    }
}

class HeldThreadsInterruptedRight {
    static final Thread[] all = new Thread[2];
    static int n;
    static synchronized void add() { n++; }
    public static void main(String[] args) {
        for (int i = 0; i < all.length; i++) { all[i] = new Thread(() -> add()); all[i].start(); }
        for (int i = 0; i < all.length; i++) try { all[i].join(); } catch (InterruptedException e) { }
        n++;
    }
}

class HeldThreadsInTimeWrong {
    static final Thread[] all = new Thread[2];
    static int n;
    static synchronized void add() { n++; }
    public static void main(String[] args) throws InterruptedException {
        for (int i = 0; i < all.length; i++) { all[i] = new Thread(() -> add()); all[i].start(); }
        for (int i = 0; i < all.length; i++) all[i].join(1);
        n++; // wrong
    }
}

class HeldThreadsInTimeRight {
    static final Thread[] all = new Thread[2];
    static int n;
    static synchronized void add() { n++; }
    public static void main(String[] args) throws InterruptedException {
        for (int i = 0; i < all.length; i++) { all[i] = new Thread(() -> add()); all[i].start(); }
        for (int i = 0; i < all.length; i++) all[i].join();
        n++;
    }
}

class IteratorOfSafeWrong {
    public static void main(String[] args) {
        List<String> list = new CopyOnWriteArrayList<>();
        Iterator<String> it = list.iterator();
        for (int i = 0; i < 2; i++) new Thread(() -> { it.next(); }).start(); // wrong
    }
}

class IteratorOfSafeRight {
    public static void main(String[] args) {
        List<String> list = new CopyOnWriteArrayList<>();
        for (int i = 0; i < 2; i++) new Thread(() -> { Iterator<String> it = list.iterator(); it.next(); }).start();
    }
}

class RecordShownWrong {
    record Line(StringBuilder text) { } // wrong
    public static void main(String[] args) {
        Line line = new Line(new StringBuilder());
        new Thread(() -> { synchronized (line) { line.text().append("a"); } }).start();
        new Thread(() -> { line.toString(); }).start();
    }
}

class RecordShownRight {
    record Line(StringBuilder text) { }
    public static void main(String[] args) {
        Line line = new Line(new StringBuilder());
        new Thread(() -> { synchronized (line) { line.text().append("a"); } }).start();
        new Thread(() -> { synchronized (line) { line.toString(); } }).start();
    }
}

class EntryKeptWrong {
    static final Map<String, String> map = new HashMap<>();
    static Map.Entry<String, String> first() { synchronized (map) { return map.entrySet().iterator().next(); } }
    public static void main(String[] args) {
        new Thread(() -> { synchronized (map) { map.put("a", "b"); } }).start();
        new Thread(() -> {
            Map.Entry<String, String> kept = first();
            kept.getValue(); // wrong
        }).start();
    }
}

class EntryKeptRight {
    static final Map<String, String> map = new HashMap<>();
    static String first() { synchronized (map) { return map.entrySet().iterator().next().getValue(); } }
    public static void main(String[] args) {
        new Thread(() -> { synchronized (map) { map.put("a", "b"); } }).start();
        new Thread(() -> { first(); }).start();
    }
}

class FirstInitialisedWrong {
    static class Late {
        static int n;
        static { synchronized (FirstInitialisedWrong.class) { n++; } } // wrong
    }
    public static void main(String[] args) {
        new Thread(() -> { synchronized (FirstInitialisedWrong.class) { Late.n++; } }).start(); // wrong
        new Thread(() -> { synchronized (Late.class) { System.out.println(Late.n); } }).start();
    }
}

class FirstInitialisedRight {
    static int n;
    static { synchronized (Late.class) { n++; } }
    static class Late { static void add() { synchronized (Late.class) { FirstInitialisedRight.n++; } } }
    public static void main(String[] args) { for (int i = 0; i < 2; i++) new Thread(() -> Late.add()).start(); }
}

class GivenCycleWrong {
    static int n;
    public static void main(String[] args) {
        Object group = Runtime.getRuntime();
        Object own = new Object();
        new Thread(() -> { synchronized (group) { synchronized (own) { n++; } } }).start(); // wrong
        new Thread(() -> { synchronized (own) { synchronized (group) { n--; } } }).start(); // wrong
    }
}

class GivenCycleRight {
    static int n;
    public static void main(String[] args) {
        Object group = Runtime.getRuntime();
        Object own = new Object();
        new Thread(() -> { synchronized (own) { synchronized (group) { n++; } } }).start();
        new Thread(() -> { synchronized (own) { synchronized (group) { n--; } } }).start();
    }
}

class OneOfTwoTargetsWrong {
    static int n;
    static abstract class Base { abstract void add(); }
    static class Kept extends Base { void add() { synchronized (this) { n++; } } }
    static class Bare extends Base { void add() { n++; } } // wrong
    static void go(Base one) { one.add(); }
    public static void main(String[] args) {
        Base kept = new Kept();
        Base bare = new Bare();
        new Thread(() -> go(kept)).start();
        new Thread(() -> go(bare)).start();
    }
}

class OneOfTwoTargetsRight {
    static int n;
    static abstract class Base { abstract void add(); }
    static class Kept extends Base { void add() { synchronized (this) { n++; } } }
    static class Bare extends Base { void add() { n++; } }
    static void go(Base one) { one.add(); }
    public static void main(String[] args) {
        Base kept = new Kept();
        Base bare = new Bare();
        go(bare);
        new Thread(() -> go(kept)).start();
        new Thread(() -> go(kept)).start();
    }
}

class WaitOuterWrong {
    static final Object outer = new Object();
    static final Object inner = new Object();
    static int n;
    static void slow() throws InterruptedException {
        synchronized (outer) { synchronized (inner) { int before = n; outer.wait(); n = before + 1; } } // wrong
    }
    static void fast() { synchronized (outer) { n++; outer.notifyAll(); } }
    public static void main(String[] args) {
        new Thread(() -> { try { slow(); } catch (InterruptedException e) { } }).start();
        new Thread(() -> fast()).start();
    }
}

class WaitOuterRight {
    static final Object outer = new Object();
    static final Object inner = new Object();
    static int n;
    static void slow() throws InterruptedException {
        synchronized (outer) { outer.wait(); synchronized (inner) { int before = n; n = before + 1; } }
    }
    static void fast() { synchronized (outer) { n++; outer.notifyAll(); } }
    public static void main(String[] args) {
        new Thread(() -> { try { slow(); } catch (InterruptedException e) { } }).start();
        new Thread(() -> fast()).start();
    }
}

class CallbackInUnitWrong {
    static class C {
        private int n;
        synchronized int get() { return n; } // wrong
        synchronized void set(int v) { n = v; } // wrong
        void add() { int v = get(); Optional.of(1).ifPresent(i -> set(v + i)); }
    }
    public static void main(String[] args) {
        C c = new C();
        for (int i = 0; i < 2; i++) new Thread(() -> c.add()).start();
    }
}

class CallbackInUnitRight {
    static class C {
        private int n;
        private int get() { return n; }
        private void set(int v) { n = v; }
        synchronized void add() { int v = get(); set(v + 1); }
    }
    public static void main(String[] args) {
        C c = new C();
        for (int i = 0; i < 2; i++) new Thread(() -> c.add()).start();
    }
}

class ElementsShownWrong {
    static final List<List<String>> outer = new ArrayList<>();
    public static void main(String[] args) {
        List<String> inner = new ArrayList<>();
        outer.add(inner);
        new Thread(() -> { synchronized (inner) { inner.add("a"); } }).start();
        new Thread(() -> { outer.toString(); }).start(); // wrong
    }
}

class ElementsShownRight {
    static final List<List<String>> outer = new ArrayList<>();
    public static void main(String[] args) {
        List<String> inner = new ArrayList<>();
        outer.add(inner);
        new Thread(() -> { synchronized (outer) { inner.add("a"); } }).start();
        new Thread(() -> { synchronized (outer) { outer.toString(); } }).start();
    }
}

class SlotsTwiceWrong {
    static int n;
    static class W extends Thread { public void run() { synchronized (W.class) { n++; } } }
    public static void main(String[] args) throws InterruptedException {
        W[] t = new W[2];
        for (int i = 0; i < 4; i++) { t[i % 2] = new W(); t[i % 2].start(); }
        for (int i = 0; i < t.length; i++) t[i].join();
        System.out.println(n); // wrong
    }
}

class SlotsTwiceRight {
    static int n;
    static class W extends Thread { public void run() { synchronized (W.class) { n++; } } }
    public static void main(String[] args) throws InterruptedException {
        W[] t = new W[4];
        for (int i = 0; i < 4; i++) { t[i] = new W(); t[i].start(); }
        for (int i = 0; i < t.length; i++) t[i].join();
        System.out.println(n);
    }
}

class SlotFilledAgainWrong {
    static int n;
    static class W extends Thread { public void run() { synchronized (W.class) { n++; } } }
    public static void main(String[] args) throws InterruptedException {
        W[] t = new W[2];
        for (int i = 0; i < 2; i++) for (int k = 0; k < 2; k++) { t[i] = new W(); t[i].start(); }
        for (int i = 0; i < 2; i++) t[i].join();
        System.out.println(n); // wrong
    }
}

class OtherStoredWrong {
    static int n;
    static class W extends Thread { public void run() { synchronized (W.class) { n++; } } }
    public static void main(String[] args) throws InterruptedException {
        W[] t = new W[2];
        W last = null;
        for (int i = 0; i < 2; i++) { W w = new W(); t[i] = last == null ? w : last; w.start(); last = w; }
        for (int i = 0; i < 2; i++) t[i].join();
        System.out.println(n); // wrong
    }
}

class LeftBeforeWrong {
    static int n;
    static class W extends Thread { public void run() { synchronized (W.class) { n++; } } }
    static void all(int count) throws InterruptedException {
        W[] t = new W[count];
        for (int i = 0; i < t.length; i++) { t[i] = new W(); t[i].start(); }
        if (count > 2) throw new IllegalStateException();
        for (int i = 0; i < t.length; i++) t[i].join();
        System.out.println(n); // wrong
    }
    public static void main(String[] args) throws InterruptedException {
        try { all(3); } catch (IllegalStateException e) { }
        all(2);
    }
}

class LeftBeforeRight {
    static int n;
    static class W extends Thread { public void run() { synchronized (W.class) { n++; } } }
    static void all(int count) throws InterruptedException {
        W[] t = new W[count];
        for (int i = 0; i < t.length; i++) { t[i] = new W(); t[i].start(); }
        if (count > 2) throw new IllegalStateException();
        for (int i = 0; i < t.length; i++) t[i].join();
        System.out.println(n);
    }
    public static void main(String[] args) throws InterruptedException { all(2); }
}

class ArrayLentWrong {
    static int n;
    static class W extends Thread { public void run() { synchronized (W.class) { n++; } } }
    static W[] lent;
    static void swap() { lent[0] = lent[1]; }
    public static void main(String[] args) throws InterruptedException {
        W[] t = new W[2];
        for (int i = 0; i < 2; i++) { t[i] = new W(); t[i].start(); }
        lent = t;
        swap();
        for (int i = 0; i < 2; i++) t[i].join();
        System.out.println(n); // wrong
    }
}

class ThreadsInterruptedWrong {
    static int n;
    static class W extends Thread { public void run() { synchronized (W.class) { n++; } } }
    public static void main(String[] args) {
        W[] t = new W[2];
        for (int i = 0; i < 2; i++) { t[i] = new W(); t[i].start(); }
        Thread.currentThread().interrupt();
        for (int i = 0; i < 2; i++) try { t[i].join(); } catch (InterruptedException e) { }
        System.out.println(n); // wrong
    }
}

class ThreadsInterruptedRight {
    static int n;
    static class W extends Thread { public void run() { synchronized (W.class) { n++; } } }
    public static void main(String[] args) {
        W[] t = new W[2];
        for (int i = 0; i < 2; i++) { t[i] = new W(); t[i].start(); }
        for (int i = 0; i < 2; i++) try { t[i].join(); } catch (InterruptedException e) { }
        System.out.println(n);
    }
}

class ListShortenedWrong {
    static int n;
    static class W extends Thread { public void run() { synchronized (W.class) { n++; } } }
    public static void main(String[] args) throws InterruptedException {
        List<W> all = new ArrayList<>();
        for (int i = 0; i < 2; i++) { W w = new W(); all.add(w); w.start(); }
        all.remove(0);
        for (W w : all) w.join();
        System.out.println(n); // wrong
    }
}

class ListOfOthersWrong {
    static int n;
    static class W extends Thread { public void run() { synchronized (W.class) { n++; } } }
    public static void main(String[] args) throws InterruptedException {
        List<W> all = new ArrayList<>();
        W last = null;
        for (int i = 0; i < 2; i++) { W w = new W(); all.add(last == null ? w : last); w.start(); last = w; }
        for (W w : all) w.join();
        System.out.println(n); // wrong
    }
}

class ListSkippedWrong {
    static int n;
    static class W extends Thread { public void run() { synchronized (W.class) { n++; } } }
    public static void main(String[] args) throws InterruptedException {
        List<W> all = new ArrayList<>();
        for (int i = 0; i < 2; i++) { W w = new W(); all.add(w); w.start(); }
        for (W w : all) if (args.length > 0) w.join();
        System.out.println(n); // wrong
    }
}

class ListSkippedRight {
    static int n;
    static class W extends Thread { public void run() { synchronized (W.class) { n++; } } }
    public static void main(String[] args) throws InterruptedException {
        List<W> all = new ArrayList<>();
        for (int i = 0; i < 2; i++) { W w = new W(); all.add(w); w.start(); }
        for (W w : all) { if (args.length > 0) System.out.println("a"); w.join(); }
        System.out.println(n);
    }
}

class ManyStartersWrong {
    static int n;
    static class B extends Thread { public void run() { synchronized (B.class) { n++; } } }
    static class A extends Thread {
        public void run() {
            int x = n; // wrong
            new B().start();
        }
    }
    public static void main(String[] args) { for (int i = 0; i < 2; i++) new A().start(); }
}

class ManyStartersRight {
    static int n;
    static class B extends Thread { public void run() { synchronized (B.class) { n++; } } }
    static class A extends Thread {
        public void run() {
            int x = n;
            for (int i = 0; i < 2; i++) new B().start();
        }
    }
    public static void main(String[] args) { new A().start(); }
}

class SwappedBetweenWrong {
    static class C { int n; }
    static class Holder {
        private volatile C c = new C();
        private void add() {
            synchronized (c) {
                c.n++; // wrong
            }
        }
    }
    public static void main(String[] args) {
        Holder holder = new Holder();
        for (int i = 0; i < 2; i++) new Thread(() -> { holder.add(); holder.c = new C(); }).start();
    }
}

class SwappedBetweenRight {
    static class C { int n; }
    static class Holder {
        private volatile C c = new C();
        private void add() {
            C own = c;
            synchronized (own) {
                own.n++;
            }
        }
    }
    public static void main(String[] args) {
        Holder holder = new Holder();
        for (int i = 0; i < 2; i++) new Thread(() -> { holder.add(); holder.c = new C(); }).start();
    }
}

class SnapshotsWrong {
    private final java.util.List<String> names = new java.util.concurrent.CopyOnWriteArrayList<>();
    void add(String name) { names.add(name); } // wrong
    int grown() {
        int n = 0;
        for (String one : names) n -= one.length(); // wrong
        for (String one : names) n += one.length(); // wrong
        return n;
    }
    public static void main(String[] args) {
        SnapshotsWrong all = new SnapshotsWrong();
        for (int i = 0; i < 2; i++) new Thread(() -> { all.add("x"); all.grown(); }).start();
    }
}

class SnapshotsRight {
    private final java.util.List<String> names = new java.util.concurrent.CopyOnWriteArrayList<>();
    private int seen;
    void add(String name) { names.add(name); }
    int lengths() {
        int n = 0;
        for (String one : names) n += one.length();
        return n;
    }
    synchronized void see(int n) { seen += n; }
    public static void main(String[] args) {
        SnapshotsRight all = new SnapshotsRight();
        for (int i = 0; i < 2; i++) new Thread(() -> { all.add("x"); all.see(all.lengths()); }).start();
    }
}
