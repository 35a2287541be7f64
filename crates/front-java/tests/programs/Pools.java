import java.util.ArrayList;
import java.util.List;
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.*;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** What runs tasks, and what waits for them; what method references do; who waits while classes begin. */
class PoolEndsWrong {
    static int n;
    static synchronized void add() { n++; }
    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        for (int i = 0; i < 3; i++) pool.submit(() -> add());
        pool.awaitTermination(1, TimeUnit.SECONDS);
        System.out.println(n); // wrong
    }
}

class PoolEndsRight {
    static int n;
    static synchronized void add() { n++; }
    public static void main(String[] args) {
        n = 5;
        ExecutorService pool = Executors.newFixedThreadPool(2);
        try {
            for (int i = 0; i < 3; i++) pool.submit(() -> add());
        } finally {
            pool.shutdown();
        }
        try { pool.awaitTermination(1, TimeUnit.SECONDS); } catch (InterruptedException e) { }
        System.out.println(n);
    }
}

class OtherPoolEndsWrong {
    static int n;
    static synchronized void add() { n++; }
    public static void main(String[] args) throws Exception {
        ExecutorService one = Executors.newFixedThreadPool(2);
        ExecutorService two = Executors.newFixedThreadPool(2);
        one.submit(() -> add());
        two.shutdown();
        two.awaitTermination(1, TimeUnit.SECONDS);
        System.out.println(n); // wrong
    }
}

class PoolsInLoopWrong {
    static int n;
    static synchronized void add() { n++; }
    public static void main(String[] args) throws Exception {
        ExecutorService last = null;
        for (int i = 0; i < 2; i++) {
            last = Executors.newFixedThreadPool(2);
            last.submit(() -> add());
            last.shutdown();
        }
        last.awaitTermination(1, TimeUnit.SECONDS);
        System.out.println(n); // wrong
    }
}

class TaskStartsWrong {
    static int n;
    static synchronized void add() { n++; }
    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        pool.submit(() -> { new Thread(() -> add()).start(); });
        pool.shutdown();
        pool.awaitTermination(1, TimeUnit.SECONDS);
        System.out.println(n); // wrong
    }
}

class FutureOfManyWrong {
    static int n;
    static synchronized void add() { n++; }
    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        Future<?> last = null;
        for (int i = 0; i < 2; i++) last = pool.submit(() -> add());
        last.get();
        System.out.println(n); // wrong
    }
}

class FutureRight {
    static int n;
    static int m;
    static synchronized void add() { m++; }
    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        Future<?> only = pool.submit(() -> { n++; add(); });
        add();
        only.get();
        System.out.println(n);
    }
}

class FuturesWrong {
    static int n;
    static synchronized int add() { return n++; }
    static List<Future<?>> begin(ExecutorService pool) {
        List<Future<?>> all = new ArrayList<>();
        for (int i = 0; i < 3; i++) all.add(pool.submit(() -> add()));
        return all;
    }
    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        for (Future<?> one : begin(pool)) {
            if (args.length > 0) continue;
            one.get();
        }
        System.out.println(n); // wrong
    }
}

class FuturesRight {
    static int n;
    static synchronized int add() { return n++; }
    static List<Future<?>> begin(ExecutorService pool) {
        List<Future<?>> all = new ArrayList<>();
        for (int i = 0; i < 3; i++) all.add(pool.submit(() -> add()));
        return all;
    }
    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        for (Future<?> one : begin(pool)) one.get();
        System.out.println(n);
    }
}

class JoinFieldWrong {
    static int n;
    static synchronized int add() { return n++; }
    static Thread[] all = new Thread[3];
    static void begin() {
        for (int i = 0; i < 6; i++) { all[i % 3] = new Thread(() -> add()); all[i % 3].start(); }
    }
    public static void main(String[] args) throws Exception {
        begin();
        for (Thread one : all) one.join();
        System.out.println(n); // wrong
    }
}

class JoinFieldRight {
    static int n;
    static synchronized int add() { return n++; }
    static Thread[] all = new Thread[3];
    static void begin() {
        for (int i = 0; i < 3; i++) { all[i] = new Thread(() -> add()); all[i].start(); }
    }
    public static void main(String[] args) throws Exception {
        begin();
        for (Thread one : all) one.join();
        System.out.println(n);
    }
}

class InvokeAllWrong {
    static int n;
    static synchronized int add() { return n++; }
    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        List<Callable<Integer>> tasks = new ArrayList<>();
        for (int i = 0; i < 3; i++) tasks.add(() -> add());
        pool.invokeAll(tasks, 1, TimeUnit.SECONDS);
        System.out.println(n); // wrong
    }
}

class InvokeAllRight {
    static int n;
    static synchronized int add() { return n++; }
    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        List<Callable<Integer>> tasks = new ArrayList<>();
        for (int i = 0; i < 3; i++) tasks.add(() -> add());
        pool.invokeAll(tasks);
        System.out.println(n);
    }
}

class OneAfterTheOtherWrong {
    static int n;
    static void begin() { Executors.newSingleThreadExecutor().execute(() -> { n++; }); } // wrong
    public static void main(String[] args) {
        begin();
        begin();
    }
}

class OneAfterTheOtherRight {
    static int n;
    static int m;
    static synchronized void add() { m++; }
    public static void main(String[] args) {
        ExecutorService line = Executors.newSingleThreadExecutor();
        for (int i = 0; i < 3; i++) line.execute(() -> { n++; add(); });
        line.execute(() -> { n--; });
        add();
    }
}

class TimersWrong {
    static int n;
    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) {
            new Timer().schedule(new TimerTask() { public void run() { n++; } }, 1); // wrong
        }
    }
}

class TimersRight {
    static int n;
    static int m;
    static synchronized void add() { m++; }
    public static void main(String[] args) {
        Timer timer = new Timer();
        for (int i = 0; i < 2; i++) {
            timer.schedule(new TimerTask() { public void run() { n++; add(); } }, 1, 1);
        }
        add();
    }
}

class AsyncWrong {
    static int n;
    static CompletableFuture<Void> begin() { return CompletableFuture.runAsync(() -> { n++; }); } // wrong
    public static void main(String[] args) {
        CompletableFuture<Void> one = begin();
        CompletableFuture<Void> two = begin();
        one.join();
        two.join();
    }
}

class AsyncRight {
    static int n;
    static int m;
    static synchronized void add() { m++; }
    public static void main(String[] args) {
        CompletableFuture<Void> one = CompletableFuture.runAsync(() -> { n++; add(); });
        add();
        one.join();
        System.out.println(n);
    }
}

class ResultOfTaskWrong {
    static class Box { int n; }
    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        Future<Box> made = pool.submit(() -> {
            Box box = new Box();
            new Thread(() -> { box.n++; }).start();
            return box;
        });
        made.get().n++; // wrong
    }
}

class AfterEachTaskWrong {
    static int n;
    static class Pool extends ThreadPoolExecutor {
        Pool() { super(2, 2, 1, TimeUnit.SECONDS, new LinkedBlockingQueue<>()); }
        protected void afterExecute(Runnable task, Throwable why) { n++; } // wrong
    }
    public static void main(String[] args) {
        Pool pool = new Pool();
        for (int i = 0; i < 2; i++) pool.execute(() -> { });
    }
}

class OwnThreadsWrong {
    static int n;
    public static void main(String[] args) {
        ExecutorService pool = Executors.newFixedThreadPool(2, task -> new Thread(() -> { n++; task.run(); })); // wrong
        for (int i = 0; i < 2; i++) pool.execute(() -> { });
    }
}

class TakenFromQueueWrong {
    static int n;
    public static void main(String[] args) {
        LinkedBlockingQueue<Runnable> queue = new LinkedBlockingQueue<>();
        ThreadPoolExecutor pool = new ThreadPoolExecutor(1, 1, 1, TimeUnit.SECONDS, queue);
        Thread thief = new Thread(() -> {
            Runnable task = queue.poll();
            if (task != null) task.run();
        });
        thief.start();
        for (int i = 0; i < 2; i++) pool.execute(() -> { n++; }); // wrong
    }
}

class ReferenceWrong {
    static final List<Integer> all = new ArrayList<>();
    public static void main(String[] args) {
        Runnable clear = all::clear;
        new Thread(() -> clear.run()).start(); // wrong
        all.add(1);
    }
}

class ReferenceRight {
    static final List<Integer> all = new ArrayList<>();
    static final Object lock = new Object();
    public static void main(String[] args) {
        Runnable clear = all::clear;
        new Thread(() -> { synchronized (lock) { clear.run(); } }).start();
        synchronized (lock) { all.add(1); }
    }
}

class ReferenceGivenAwayWrong {
    static final List<Integer> all = new ArrayList<>();
    public static void main(String[] args) {
        CompletableFuture.runAsync(() -> { }).thenRun(all::clear); // wrong
        all.add(1);
    }
}

class InitialiserCycleWrong {
    static class One { static int n = Two.n + 1; } // wrong
    static class Two { static int n = One.n + 1; } // wrong
    public static void main(String[] args) {
        new Thread(() -> System.out.println(One.n)).start();
        new Thread(() -> System.out.println(Two.n)).start();
    }
}

class InitialiserCycleRight {
    static int m;
    static synchronized int add() { return m++; }
    static class One { static int n = Two.n + 1; }
    static class Two { static int n = add(); }
    public static void main(String[] args) {
        new Thread(() -> { add(); System.out.println(One.n); }).start();
        new Thread(() -> { add(); System.out.println(Two.n); }).start();
    }
}

class InitialiserTakesLockWrong {
    static final Object lock = new Object();
    static class Late { static int n; static { synchronized (lock) { n = 1; } } } // wrong
    public static void main(String[] args) {
        new Thread(() -> { synchronized (lock) { System.out.println(Late.n); } }).start(); // wrong
        new Thread(() -> System.out.println(Late.n)).start();
    }
}

class AwaitUnderMonitorWrong {
    static final ReentrantLock lock = new ReentrantLock();
    static final Condition changed = lock.newCondition();
    static final Object monitor = new Object();
    public static void main(String[] args) {
        new Thread(() -> {
            lock.lock();
            try { synchronized (monitor) { changed.await(); } } catch (InterruptedException e) { } finally { lock.unlock(); } // wrong
        }).start();
        new Thread(() -> {
            lock.lock();
            try { changed.signal(); synchronized (monitor) { } } finally { lock.unlock(); }
        }).start();
    }
}

class TriedCycleWrong {
    static int n;
    static final ReentrantLock one = new ReentrantLock();
    static final ReentrantLock two = new ReentrantLock();
    public static void main(String[] args) {
        new Thread(() -> {
            if (one.tryLock()) {
                try { two.lock(); try { n++; } finally { two.unlock(); } } finally { one.unlock(); } // wrong
            }
        }).start();
        new Thread(() -> {
            two.lock();
            try { one.lock(); try { n++; } finally { one.unlock(); } } finally { two.unlock(); }
        }).start();
    }
}

class TriedCycleRight {
    static int n;
    static final ReentrantLock one = new ReentrantLock();
    static final ReentrantLock two = new ReentrantLock();
    static synchronized void add() { n++; }
    public static void main(String[] args) {
        new Thread(() -> {
            one.lock();
            try { if (two.tryLock()) { two.unlock(); } } finally { one.unlock(); }
            add();
        }).start();
        new Thread(() -> {
            two.lock();
            try { if (one.tryLock()) { one.unlock(); } } finally { two.unlock(); }
            add();
        }).start();
    }
}

class LocalWrong {
    static final int[] box = new int[1];
    static final ThreadLocal<int[]> local = ThreadLocal.withInitial(() -> box);
    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) new Thread(() -> { local.get()[0]++; }).start(); // wrong
    }
}

class LocalRight {
    static int n;
    static synchronized void add() { n++; }
    static final ThreadLocal<int[]> made = ThreadLocal.withInitial(() -> new int[1]);
    static final ThreadLocal<int[]> set = new ThreadLocal<>();
    static final ThreadLocal<int[]> own = new ThreadLocal<int[]>() { protected int[] initialValue() { return new int[2]; } };
    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) {
            new Thread(() -> {
                made.get()[0]++;
                set.set(new int[3]);
                set.get()[0]++;
                own.get()[0]++;
                add();
            }).start();
        }
    }
}

class InheritedLocalWrong {
    static class Box { int n; }
    static final InheritableThreadLocal<Box> local = new InheritableThreadLocal<>();
    public static void main(String[] args) {
        local.set(new Box());
        for (int i = 0; i < 2; i++) new Thread(() -> { local.get().n++; }).start(); // wrong
    }
}

class InitialCountsWrong {
    static int n;
    static final ThreadLocal<int[]> local = ThreadLocal.withInitial(() -> new int[n++]); // wrong
    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) new Thread(() -> { local.get(); }).start();
    }
}

class LentAsked {
    int n;
    public static void main(String[] args) {
        LentAsked box = new LentAsked();
        for (int i = 0; i < 2; i++) {
            new Thread(() -> {
                synchronized (box) { box.n++; }
                java.lang.ref.Reference.reachabilityFence(box); // wrong
            }).start();
        }
    }
}

class LocalFormatWrong {
    static final java.text.SimpleDateFormat format = new java.text.SimpleDateFormat("yyyy");
    static final ThreadLocal<java.text.SimpleDateFormat> own = ThreadLocal.withInitial(() -> format);
    static String year() { return own.get().format(new java.util.Date()); } // wrong
    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) new Thread(() -> year()).start();
    }
}

class LocalFormatRight {
    static final ThreadLocal<java.text.SimpleDateFormat> own =
        ThreadLocal.withInitial(() -> new java.text.SimpleDateFormat("yyyy"));
    static int shown;
    static String year() { return own.get().format(new java.util.Date()); }
    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) new Thread(() -> {
            year();
            synchronized (LocalFormatRight.class) { shown++; }
        }).start();
    }
}
