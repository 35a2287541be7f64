import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.*;

/** Twins of programs elsewhere, and pairs for rules that had none. */
class LambdaCalledOftenRight {
    static int total;
    static void begin() {
        Thread t = new Thread(() -> { synchronized (LambdaCalledOftenRight.class) { total++; } });
        t.start();
    }
    public static void main(String[] args) {
        Arrays.asList(1, 2, 3).forEach(i -> begin());
    }
}

class SetTwiceRight {
    static class C {
        int[] a;
        void set(int[] a) { this.a = a; }
        void add() { synchronized (SetTwiceRight.class) { a[0]++; } }
    }
    static void both(C one, C two) { int[] t = new int[1]; one.set(t); two.set(t); }
    public static void main(String[] args) {
        C[] all = { new C(), new C() };
        both(all[0], all[1]);
        for (C c : all) new Thread(() -> c.add()).start();
    }
}

class ForEachRight {
    static class C { int n; }
    public static void main(String[] args) {
        List<C> list = new ArrayList<>();
        list.add(new C());
        Runnable r = () -> list.forEach(c -> { synchronized (c) { c.n++; } });
        new Thread(r).start();
        new Thread(r).start();
    }
}

class EnumSetRight {
    enum Kind { A, B; int n; }
    public static void main(String[] args) {
        Runnable r = () -> { for (Kind k : EnumSet.allOf(Kind.class)) synchronized (k) { k.n++; } };
        new Thread(r).start();
        new Thread(r).start();
    }
}

class ThenRunRight {
    static int n;
    static synchronized void add() { n++; }
    public static void main(String[] args) {
        CompletableFuture<Void> f = CompletableFuture.runAsync(() -> { });
        f.thenRun(() -> add());
        add();
    }
}

class PutAllRight {
    static class Pair {
        final ConcurrentHashMap<String, String> map = new ConcurrentHashMap<>();
        synchronized void both(Map<String, String> two) { map.putAll(two); }
        synchronized boolean look() { return map.containsKey("a") == map.containsKey("b"); }
    }
    public static void main(String[] args) {
        Pair pair = new Pair();
        Map<String, String> two = new HashMap<>();
        new Thread(() -> pair.both(two)).start();
        new Thread(() -> pair.look()).start();
    }
}

class InterruptedJoinRight {
    static int n;
    static synchronized void add() { n++; }
    public static void main(String[] args) throws Exception {
        Thread slow = new Thread(() -> { for (int i = 0; i < 1000; i++) add(); });
        ExecutorService pool = Executors.newCachedThreadPool();
        List<Callable<Integer>> tasks = new ArrayList<>();
        tasks.add(() -> 1);
        tasks.add(() -> {
            slow.start();
            try { slow.join(); } catch (InterruptedException e) { }
            add();
            return 2;
        });
        pool.invokeAny(tasks);
    }
}

class GivenLockWrong {
    static class Box {
        private final Object mutex;
        private final int[] cell;
        Box(Object mutex, int[] cell) { this.mutex = mutex; this.cell = cell; }
        void add() { synchronized (mutex) { cell[0]++; } } // wrong
    }
    public static void main(String[] args) {
        int[] cell = new int[1];
        for (int i = 0; i < 2; i++) { Box box = new Box(new Object(), cell); new Thread(() -> box.add()).start(); }
    }
}

class GoWrong {
    int n;
    void go() {
        n = 5;
        Thread t = new Thread(() -> { n++; }); // wrong
        t.start();
        System.out.println(n); // wrong
    }
    public static void main(String[] args) { new GoWrong().go(); }
}

class GoRight {
    int n;
    void go() throws InterruptedException {
        n = 5;
        Thread t = new Thread(() -> { n++; });
        t.start();
        t.join();
        System.out.println(n);
    }
    public static void main(String[] args) throws InterruptedException { new GoRight().go(); }
}

class TriedWrong {
    static final ReentrantLock lock = new ReentrantLock();
    static int n;
    static void add() {
        boolean held = lock.tryLock();
        n++; // wrong
        if (held) lock.unlock();
    }
    public static void main(String[] args) { for (int i = 0; i < 2; i++) new Thread(() -> add()).start(); }
}

class TriedRight {
    static final ReentrantLock lock = new ReentrantLock();
    static int n;
    static void add() { if (lock.tryLock()) try { n++; } finally { lock.unlock(); } }
    public static void main(String[] args) { for (int i = 0; i < 2; i++) new Thread(() -> add()).start(); }
}

class CallerStock { private int n; synchronized void take() { n--; } synchronized int left() { return n; } }

class CallerRight {
    void handle(CallerStock stock) { if (stock.left() > 0) { stock.take(); stock.take(); } }
    public static void main(String[] args) {
        CallerStock stock = new CallerStock();
        CallerRight handler = new CallerRight();
        for (int i = 0; i < 2; i++) new Thread(() -> handler.handle(stock)).start();
    }
}

class CallerWrong {
    static class Stock {
        private int n;
        synchronized void take() { n--; } // wrong
        synchronized int left() { return n; } // wrong
        void takeOne() { if (left() > 0) take(); }
    }
    public static void main(String[] args) {
        Stock stock = new Stock();
        for (int i = 0; i < 2; i++) new Thread(() -> stock.takeOne()).start();
    }
}

class PrintedByReferenceWrong {
    static final List<List<String>> outer = new ArrayList<>();
    public static void main(String[] args) {
        List<String> inner = new ArrayList<>();
        outer.add(inner);
        new Thread(() -> { synchronized (inner) { inner.add("a"); } }).start();
        new Thread(() -> outer.forEach(System.out::println)).start(); // wrong
    }
}

class MonitorReferenceWrong {
    interface Act { void act() throws Exception; }
    static class C { int n; synchronized void add() { n++; } } // wrong
    static void go(C c, Act r) throws Exception { synchronized (c) { int b = c.n; r.act(); c.n = b + 1; } } // wrong
    public static void main(String[] args) {
        C c = new C();
        new Thread(() -> { try { go(c, c::wait); } catch (Exception e) { } }).start();
        new Thread(() -> c.add()).start();
    }
}

class UnlockReferenceWrong {
    static final ReentrantLock lock = new ReentrantLock();
    static int n;
    static void go(Runnable r) { lock.lock(); r.run(); n++; } // wrong
    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) new Thread(() -> go(lock::unlock)).start();
    }
}

class PrintedByReferenceRight {
    static final List<List<String>> outer = new ArrayList<>();
    static final ReentrantLock lock = new ReentrantLock();
    public static void main(String[] args) {
        List<String> inner = new ArrayList<>();
        outer.add(inner);
        new Thread(() -> { lock.lock(); try { inner.add("a"); } finally { lock.unlock(); } }).start();
        new Thread(() -> { lock.lock(); try { outer.forEach(System.out::println); } finally { lock.unlock(); } }).start();
    }
}

class MonitorReferenceRight {
    interface Act { void act() throws Exception; }
    static class C { int n; synchronized void add() { n++; } }
    static void go(C c, Act act) throws Exception { synchronized (c) { c.n++; } act.act(); }
    public static void main(String[] args) {
        C c = new C();
        new Thread(() -> { try { go(c, c::hashCode); } catch (Exception e) { } }).start();
        new Thread(() -> c.add()).start();
    }
}

class UnlockReferenceRight {
    static final ReentrantLock lock = new ReentrantLock();
    static int n;
    static void go(Runnable after) { lock.lock(); try { n++; } finally { lock.unlock(); } after.run(); }
    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) new Thread(() -> go(lock::getHoldCount)).start();
    }
}

class CrowdedAsked {
    static final CrowdedAsked[] all = new CrowdedAsked[8];
    int n;
    static void go() {
        CrowdedAsked a = all[0], b = all[1], c = all[2], d = all[3], e = all[4], f = all[5], g = all[6], h = all[7];
        a.n++; b.n++; c.n++; d.n++; e.n++; f.n++; g.n++; h.n++;
        a.n++; b.n++; c.n++; d.n++; e.n++; f.n++; g.n++; h.n++;
    }
    public static void main(String[] args) {
        for (int i = 0; i < 8; i++) all[i] = new CrowdedAsked();
        for (int i = 0; i < 2; i++) new Thread(() -> go()).start();
    }
}

class CountersInMapWrong {
    private final ConcurrentHashMap<String, int[]> all = new ConcurrentHashMap<>();
    void hit(String key) { all.computeIfAbsent(key, k -> new int[1])[0]++; } // wrong
    public static void main(String[] args) {
        CountersInMapWrong one = new CountersInMapWrong();
        for (int i = 0; i < 2; i++) new Thread(() -> one.hit("a")).start();
    }
}

class CountersInMapRight {
    private final ConcurrentHashMap<String, AtomicInteger> all = new ConcurrentHashMap<>();
    void hit(String key) { all.computeIfAbsent(key, k -> new AtomicInteger()).incrementAndGet(); }
    public static void main(String[] args) {
        CountersInMapRight one = new CountersInMapRight();
        for (int i = 0; i < 2; i++) new Thread(() -> one.hit("a")).start();
    }
}

class ListenersWrong {
    private final List<Runnable> all = new CopyOnWriteArrayList<>();
    static int n;
    public static void main(String[] args) {
        ListenersWrong one = new ListenersWrong();
        one.all.add(() -> n++); // wrong
        for (int i = 0; i < 2; i++) new Thread(() -> one.all.forEach(Runnable::run)).start();
    }
}

class ListenersRight {
    private final List<Runnable> all = new CopyOnWriteArrayList<>();
    static int n;
    static synchronized void add() { n++; }
    public static void main(String[] args) {
        ListenersRight one = new ListenersRight();
        one.all.add(() -> add());
        for (int i = 0; i < 2; i++) new Thread(() -> one.all.forEach(Runnable::run)).start();
    }
}
