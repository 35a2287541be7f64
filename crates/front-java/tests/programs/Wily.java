import java.util.ArrayList;
import java.util.Formatter;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Functions that make values, threads that start their like, numbers as locks, exceptions that carry objects. */
class LocalMadeWrong {
    static class Box { int n; }
    static final ThreadLocal<Box> own = ThreadLocal.withInitial(Box::new);
    public static void main(String[] args) {
        Box box = own.get();
        new Thread(() -> { box.n++; }).start(); // wrong
        own.get().n++; // wrong
    }
}

class LocalMadeRight {
    static class Box { int n; synchronized void add() { n++; } }
    static final ThreadLocal<Box> own = ThreadLocal.withInitial(Box::new);
    public static void main(String[] args) {
        Box box = own.get();
        new Thread(() -> { box.add(); }).start();
        own.get().add();
    }
}

class StartsItsLikeWrong {
    static int n;
    static final Thread[] all = new Thread[3];
    static class Worker extends Thread {
        final int more;
        Worker(int more) { this.more = more; }
        public void run() { if (more > 0) make(more - 1).start(); else add(); }
    }
    static synchronized void add() { n++; }
    static Worker make(int more) { return new Worker(more); }
    static void begin() {
        for (int i = 0; i < 3; i++) { all[i] = make(1); all[i].start(); }
    }
    public static void main(String[] args) throws Exception {
        begin();
        for (int i = 0; i < 3; i++) all[i].join();
        System.out.println(n); // wrong
    }
}

class StartsItsLikeRight {
    static int n;
    static final Thread[] all = new Thread[3];
    static class Worker extends Thread {
        final int more;
        Worker(int more) { this.more = more; }
        public void run() { for (int i = 0; i < more; i++) add(); }
    }
    static synchronized void add() { n++; }
    static Worker make(int more) { return new Worker(more); }
    static void begin() {
        for (int i = 0; i < 3; i++) { all[i] = make(1); all[i].start(); }
    }
    public static void main(String[] args) throws Exception {
        begin();
        for (int i = 0; i < 3; i++) all[i].join();
        System.out.println(n);
    }
}

class SubmitsItselfWrong {
    static int n;
    static final ExecutorService pool = Executors.newFixedThreadPool(2);
    static synchronized void add() { n++; }
    static class Task implements Callable<Integer> {
        public Integer call() { pool.submit(this); add(); return 0; }
    }
    public static void main(String[] args) throws Exception {
        List<Callable<Integer>> tasks = new ArrayList<>();
        tasks.add(new Task());
        pool.invokeAll(tasks);
        System.out.println(n); // wrong
    }
}

class NumbersAsLocksWrong {
    static int n;
    static final Integer one = Integer.valueOf(1);
    static final Integer two = Integer.valueOf(2);
    static synchronized void add() { n++; }
    public static void main(String[] args) {
        new Thread(() -> { synchronized (one) { synchronized (two) { add(); } } }).start(); // wrong
        new Thread(() -> { synchronized (two) { synchronized (one) { add(); } } }).start(); // wrong
    }
}

class NumbersAsLocksRight {
    static int n;
    static final Integer one = Integer.valueOf(1);
    static synchronized void add() { n++; }
    public static void main(String[] args) {
        new Thread(() -> { synchronized (one) { add(); } }).start();
        new Thread(() -> { synchronized (one) { add(); } }).start();
    }
}

class ThrownCareless {
    public static class Full extends RuntimeException {
        private final ThrownCareless of;
        Full(ThrownCareless of) { this.of = of; }
        public void shrink() { of.size--; } // wrong
    }
    private int size;
    public synchronized void add() {
        size++;
        if (size > 3) throw new Full(this);
    }
}

class ThrownCareful {
    public static class Full extends RuntimeException {
        private final ThrownCareful of;
        Full(ThrownCareful of) { this.of = of; }
        public void shrink() { synchronized (of) { of.size--; } }
    }
    private int size;
    public synchronized void add() {
        size++;
        if (size > 3) throw new Full(this);
    }
}

/** Methods that touch an object by what they give to code outside, and by nothing else. */
class DeepTextWrong {
    static final List<List<Integer>> outer = new ArrayList<>();
    static final List<Integer> inner = new ArrayList<>();
    static void show() { System.out.println(outer); } // wrong
    static void grow() { inner.add(1); } // wrong
    public static void main(String[] args) {
        outer.add(inner);
        new Thread(() -> show()).start();
        new Thread(() -> grow()).start();
    }
}

class DeepTextRight {
    static final List<List<Integer>> outer = new ArrayList<>();
    static final List<Integer> inner = new ArrayList<>();
    static synchronized void show() { System.out.println(outer); }
    static synchronized void grow() { inner.add(1); }
    public static void main(String[] args) {
        outer.add(inner);
        new Thread(() -> show()).start();
        new Thread(() -> grow()).start();
    }
}

class MadeAroundWrong {
    static final StringBuilder text = new StringBuilder();
    static final Formatter form = new Formatter(text);
    static void write() { form.format("%d", 1); } // wrong
    static void look() { System.out.println(text.length()); } // wrong
    public static void main(String[] args) {
        new Thread(() -> write()).start();
        new Thread(() -> look()).start();
    }
}

/** Code outside has two objects of a class; what is done to the second is no less than what is done to the first. */
class HandedTwoWrong {
    static class Task implements Runnable {
        int n;
        public synchronized void run() { n++; }
    }
    public static void main(String[] args) {
        Task one = new Task();
        Task two = new Task();
        CompletableFuture<Void> done = CompletableFuture.runAsync(() -> { });
        done.thenRun(one);
        done.thenRun(two);
        two.n--; // wrong
    }
}

class HandedTwoRight {
    static class Task implements Runnable {
        int n;
        public synchronized void run() { n++; }
    }
    public static void main(String[] args) {
        Task one = new Task();
        Task two = new Task();
        CompletableFuture<Void> done = CompletableFuture.runAsync(() -> { });
        done.thenRun(one);
        done.thenRun(two);
        synchronized (two) { two.n--; }
    }
}
