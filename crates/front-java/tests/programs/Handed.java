import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** A task for each thread. */
class TaskForEachRight implements Runnable {
    private static int all;
    private int own;

    @Override
    public void run() {
        own++;
        synchronized (TaskForEachRight.class) {
            all += own;
        }
    }

    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) {
            TaskForEachRight task = new TaskForEachRight();
            new Thread(task).start();
        }
    }
}

/** One task for all threads. */
class TaskForEachWrong implements Runnable {
    private static int all;
    private int own;

    @Override
    public void run() {
        own++; // wrong
        synchronized (TaskForEachWrong.class) {
            all += own;
        }
    }

    public static void main(String[] args) {
        for (int j = 0; j < 2; j++) {
            TaskForEachWrong task = new TaskForEachWrong();
            for (int i = 0; i < 2; i++) {
                new Thread(task).start();
            }
        }
    }
}

/** The same, handed over by a function that has captured it. */
class CapturedForEachRight {
    private static int all;
    private int own;

    void work() {
        own++;
        synchronized (CapturedForEachRight.class) {
            all += own;
        }
    }

    public static void main(String[] args) {
        ExecutorService workers = Executors.newFixedThreadPool(2);
        for (int i = 0; i < 2; i++) {
            CapturedForEachRight one = new CapturedForEachRight();
            workers.submit(() -> one.work());
        }
        workers.shutdown();
    }
}

class CapturedForEachWrong {
    private static int all;
    private int own;

    void work() {
        own++; // wrong
        synchronized (CapturedForEachWrong.class) {
            all += own;
        }
    }

    public static void main(String[] args) {
        ExecutorService workers = Executors.newFixedThreadPool(2);
        CapturedForEachWrong one = new CapturedForEachWrong();
        for (int i = 0; i < 4; i++) {
            if (i % 2 == 0) {
                one = new CapturedForEachWrong();
            }
            CapturedForEachWrong mine = one;
            workers.submit(() -> mine.work());
        }
        workers.shutdown();
    }
}

/** Tasks in a list, each of which is taken out once. */
class ListedTasksRight implements Runnable {
    private static int all;
    private int own;

    @Override
    public void run() {
        own++;
        synchronized (ListedTasksRight.class) {
            all += own;
        }
    }

    public static void main(String[] args) {
        List<ListedTasksRight> tasks = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            tasks.add(new ListedTasksRight());
        }
        for (ListedTasksRight task : tasks) {
            new Thread(task).start();
        }
    }
}

/** Tasks in a list that is gone over twice. */
class ListedTasksWrong implements Runnable {
    private static int all;
    private int own;

    @Override
    public void run() {
        own++; // wrong
        synchronized (ListedTasksWrong.class) {
            all += own;
        }
    }

    public static void main(String[] args) {
        List<ListedTasksWrong> tasks = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            tasks.add(new ListedTasksWrong());
        }
        for (int i = 0; i < 2; i++) {
            for (ListedTasksWrong task : tasks) {
                new Thread(task).start();
            }
        }
    }
}

/** A task that is in the list twice. */
class ListedTwiceWrong implements Callable<Integer> {
    private int own;

    @Override
    public Integer call() {
        return own++; // wrong
    }

    public static void main(String[] args) throws Exception {
        ExecutorService workers = Executors.newFixedThreadPool(2);
        List<ListedTwiceWrong> tasks = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            ListedTwiceWrong task = new ListedTwiceWrong();
            tasks.add(task);
            tasks.add(task);
        }
        workers.invokeAll(tasks);
        workers.shutdown();
    }
}

class ListedTwiceRight implements Callable<Integer> {
    private static int all;
    private int own;

    @Override
    public Integer call() {
        own++;
        synchronized (ListedTwiceRight.class) {
            return all += own;
        }
    }

    public static void main(String[] args) throws Exception {
        ExecutorService workers = Executors.newFixedThreadPool(2);
        List<ListedTwiceRight> tasks = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            tasks.add(new ListedTwiceRight());
        }
        workers.invokeAll(tasks);
        workers.shutdown();
    }
}

/** A list that another one is added to. */
class ListedAgainWrong implements Runnable {
    private int own;

    @Override
    public void run() {
        own++; // wrong
    }

    public static void main(String[] args) {
        List<ListedAgainWrong> tasks = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            tasks.add(new ListedAgainWrong());
        }
        tasks.addAll(new ArrayList<>(tasks));
        for (ListedAgainWrong task : tasks) {
            new Thread(task).start();
        }
    }
}

/** Writers hold a lock; who reads a volatile field sees one value or the other. */
class VolatileUpdatedRight {
    private volatile int heat;

    synchronized void warm() {
        heat++;
    }

    public static void main(String[] args) {
        VolatileUpdatedRight room = new VolatileUpdatedRight();
        for (int i = 0; i < 2; i++) {
            new Thread(() -> {
                room.warm();
                System.out.println(room.heat);
            }).start();
        }
    }
}

/** Another one writes without the lock. */
class VolatileUpdatedWrong {
    private volatile int heat;

    synchronized void warm() {
        heat++; // wrong
    }

    public static void main(String[] args) {
        VolatileUpdatedWrong room = new VolatileUpdatedWrong();
        for (int i = 0; i < 2; i++) {
            new Thread(() -> {
                room.warm();
                room.heat = 0; // wrong
            }).start();
        }
    }
}

/** The lock is free between reading and writing. */
class VolatileInStepsWrong {
    private static volatile int heat;

    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) {
            new Thread(() -> {
                int old;
                synchronized (VolatileInStepsWrong.class) {
                    old = heat; // wrong
                }
                heat = old + 1; // wrong
            }).start();
        }
    }
}

/** Looked at without the lock, and again with it: what is read then decides. */
class CheckedAgainRight {
    private static volatile CheckedAgainRight one;

    static CheckedAgainRight get() {
        CheckedAgainRight known = one;
        if (known == null) {
            synchronized (CheckedAgainRight.class) {
                known = one;
                if (known == null) {
                    known = new CheckedAgainRight();
                    one = known;
                }
            }
        }
        return known;
    }

    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) {
            new Thread(CheckedAgainRight::get).start();
        }
    }
}

/** Looked at without the lock only. */
class CheckedAgainWrong {
    private static volatile CheckedAgainWrong one;

    static CheckedAgainWrong get() {
        CheckedAgainWrong known = one; // wrong
        if (known == null) {
            synchronized (CheckedAgainWrong.class) {
                known = new CheckedAgainWrong();
                one = known; // wrong
            }
        }
        return known;
    }

    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) {
            new Thread(CheckedAgainWrong::get).start();
        }
    }
}

/** A queue that is asked, and then polled, which finds out if it is too late. */
class PolledRight {
    private static final java.util.concurrent.LinkedBlockingQueue<String> JOBS =
        new java.util.concurrent.LinkedBlockingQueue<>();

    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) {
            new Thread(() -> {
                JOBS.offer("job");
                while (!JOBS.isEmpty()) {
                    JOBS.poll();
                }
            }).start();
        }
    }
}

/** A map that is asked, and then changed, whatever it has by then. */
class PolledWrong {
    private static final java.util.concurrent.ConcurrentHashMap<String, Integer> JOBS =
        new java.util.concurrent.ConcurrentHashMap<>();

    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) {
            new Thread(() -> {
                Integer old = JOBS.get("job"); // wrong
                JOBS.put("job", old == null ? 1 : old + 1); // wrong
            }).start();
        }
    }
}

/** Each thread is waited for before its result is read, one after the other. */
class JoinedOneRight extends Thread {
    private static int all;
    private int own;

    @Override
    public void run() {
        own++;
        synchronized (JoinedOneRight.class) {
            all += own;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        JoinedOneRight[] workers = new JoinedOneRight[3];
        for (int i = 0; i < workers.length; i++) {
            JoinedOneRight worker = new JoinedOneRight();
            workers[i] = worker;
            worker.own = i;
            worker.start();
        }
        int sum = 0;
        for (JoinedOneRight worker : workers) {
            worker.join();
            sum += worker.own;
        }
        System.out.println(sum);
    }
}

/** The result of one is read after another one was waited for. */
class JoinedOneWrong extends Thread {
    private int own;

    @Override
    public void run() {
        own++; // wrong
    }

    public static void main(String[] args) throws InterruptedException {
        JoinedOneWrong[] workers = new JoinedOneWrong[3];
        for (int i = 0; i < workers.length; i++) {
            workers[i] = new JoinedOneWrong();
            workers[i].start();
        }
        int sum = 0;
        for (int i = 0; i + 1 < workers.length; i++) {
            workers[i].join();
            sum += workers[i + 1].own; // wrong
        }
        System.out.println(sum);
    }
}

/** A thread writes to the next one, which has ended. */
class JoinedPeerWrong extends Thread {
    private JoinedPeerWrong next;
    private int own;

    @Override
    public void run() {
        if (next != null) {
            next.own++;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        JoinedPeerWrong last = null;
        for (int i = 0; i < 3; i++) {
            JoinedPeerWrong worker = new JoinedPeerWrong();
            worker.next = last;
            last = worker;
            worker.start();
        }
        for (JoinedPeerWrong one = last; one != null; one = one.next) {
            one.join();
            System.out.println(one.own); // wrong
        }
    }
}
