import java.lang.ref.Cleaner;
import java.util.*;
import java.util.concurrent.*;
import java.util.stream.*;

/** Where threads come from. */
class HookRight {
    static int n;
    static synchronized void add() { n++; }
    public static void main(String[] args) {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> add()));
        add();
    }
}

class ScheduledRight {
    static int n;
    static synchronized void add() { n++; }
    public static void main(String[] args) {
        Executors.newScheduledThreadPool(1).scheduleAtFixedRate(() -> add(), 0, 1, TimeUnit.SECONDS);
        add();
    }
}

class ParallelArrayWrong {
    static int n;
    public static void main(String[] args) {
        Arrays.parallelSetAll(new int[9], i -> n++); // wrong
    }
}

class ParallelArrayRight {
    static int n;
    static synchronized int add() { return n++; }
    public static void main(String[] args) {
        Arrays.parallelSetAll(new int[9], i -> add());
    }
}

class ForkJoinWrong {
    static int n;
    static class Part extends RecursiveAction {
        final int size;
        Part(int size) { this.size = size; }
        protected void compute() {
            n++; // wrong
            if (size < 2) return;
            Part left = new Part(size / 2);
            left.fork();
            new Part(size - size / 2).compute();
            left.join();
        }
    }
    public static void main(String[] args) { ForkJoinPool.commonPool().invoke(new Part(9)); }
}

class ForkJoinRight {
    static int n;
    static synchronized void add() { n++; }
    static class Part extends RecursiveAction {
        final int size;
        Part(int size) { this.size = size; }
        protected void compute() {
            add();
            if (size < 2) return;
            Part left = new Part(size / 2);
            left.fork();
            new Part(size - size / 2).compute();
            left.join();
        }
    }
    public static void main(String[] args) { ForkJoinPool.commonPool().invoke(new Part(9)); }
}

class InvokedTaskWrong {
    static int n;
    static class Sum extends RecursiveTask<Integer> {
        protected Integer compute() { return n++; } // wrong
    }
    public static void main(String[] args) {
        ForkJoinTask.invokeAll(new Sum(), new Sum());
    }
}

class InvokedTaskRight {
    static int n;
    static class Sum extends RecursiveTask<Integer> {
        protected Integer compute() { synchronized (Sum.class) { return n++; } }
    }
    public static void main(String[] args) {
        ForkJoinTask.invokeAll(new Sum(), new Sum());
    }
}

class ThenApplyWrong {
    static int n;
    public static void main(String[] args) {
        CompletableFuture<Integer> f = CompletableFuture.supplyAsync(() -> 1);
        f.thenApply(x -> n++).thenAccept(x -> { }); // wrong
        n++; // wrong
    }
}

class ThenApplyRight {
    static int n;
    static synchronized int add() { return n++; }
    public static void main(String[] args) {
        CompletableFuture<Integer> f = CompletableFuture.supplyAsync(() -> 1);
        f.thenApply(x -> add()).thenAccept(x -> { });
        add();
    }
}

class CleanerWrong {
    static int open;
    public static void main(String[] args) {
        Cleaner cleaner = Cleaner.create();
        open++; // wrong
        cleaner.register(new Object(), () -> open--); // wrong
        open++; // wrong
    }
}

class CleanerRight {
    static int open;
    static synchronized void change(int by) { open += by; }
    public static void main(String[] args) {
        Cleaner cleaner = Cleaner.create();
        change(1);
        cleaner.register(new Object(), () -> change(-1));
    }
}

class BarrierWrong {
    static int n;
    public static void main(String[] args) {
        CyclicBarrier barrier = new CyclicBarrier(2, () -> n++); // wrong
        for (int i = 0; i < 2; i++) new Thread(() -> {
            try { barrier.await(); } catch (Exception e) { }
            n++; // wrong
        }).start();
    }
}

class BarrierRight {
    static int n;
    static synchronized void add() { n++; }
    public static void main(String[] args) {
        CyclicBarrier barrier = new CyclicBarrier(2, () -> add());
        for (int i = 0; i < 2; i++) new Thread(() -> {
            try { barrier.await(); } catch (Exception e) { }
            add();
        }).start();
    }
}

class BulkMapWrong {
    static int n;
    public static void main(String[] args) {
        ConcurrentHashMap<String, String> map = new ConcurrentHashMap<>();
        map.forEach(1, (k, v) -> n++); // wrong
    }
}

class BulkMapRight {
    static int n;
    static synchronized void add() { n++; }
    public static void main(String[] args) {
        ConcurrentHashMap<String, String> map = new ConcurrentHashMap<>();
        map.forEach(1, (k, v) -> add());
    }
}

class FutureTaskWrong {
    static int n;
    public static void main(String[] args) {
        FutureTask<Integer> task = new FutureTask<>(() -> n++); // wrong
        new Thread(task).start();
        n++; // wrong
    }
}

class FutureTaskRight {
    static int n;
    static synchronized int add() { return n++; }
    public static void main(String[] args) {
        FutureTask<Integer> task = new FutureTask<>(() -> add());
        new Thread(task).start();
        add();
    }
}

class LatchWrong {
    static int n;
    public static void main(String[] args) throws Exception {
        CountDownLatch latch = new CountDownLatch(1);
        new Thread(() -> { latch.countDown(); n++; }).start(); // wrong
        latch.await();
        n++; // wrong
    }
}

class LatchRight {
    static int n;
    static synchronized void add() { n++; }
    public static void main(String[] args) throws Exception {
        CountDownLatch latch = new CountDownLatch(1);
        new Thread(() -> { latch.countDown(); add(); }).start();
        latch.await();
        add();
    }
}

class ParallelRangeWrong {
    static int n;
    public static void main(String[] args) {
        IntStream.range(0, 9).parallel().forEach(i -> { n++; }); // wrong
    }
}

class ParallelRangeRight {
    static int n;
    static synchronized void add() { n++; }
    public static void main(String[] args) {
        IntStream.range(0, 9).parallel().forEach(i -> add());
    }
}
