import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

/** One thread. */
class OneThread {
    static int n;

    public static void main(String[] args) {
        n++;
    }
}

/** Two threads, each with an array and a lock of its own, that print. */
class Apart {
    static void work() {
        int[] own = new int[1];
        Object lock = new Object();
        synchronized (lock) {
            own[0]++;
        }
        System.out.println(own[0]);
    }

    public static void main(String[] args) {
        new Thread(Apart::work).start();
        work();
    }
}

/** Two threads that share one lock, and nothing that it protects. */
class OneLock {
    public static void main(String[] args) {
        Lock lock = new ReentrantLock();
        new Thread(() -> {
            lock.lock();
            lock.unlock();
        }).start();
        lock.lock();
        lock.unlock();
    }
}

/** Two threads that share a field, one after the other. */
class InOrder extends Thread {
    int result;

    @Override
    public void run() {
        result = 1;
    }

    public static void main(String[] args) throws InterruptedException {
        InOrder worker = new InOrder();
        worker.start();
        worker.join();
        System.out.println(worker.result);
    }
}

/** Three threads that take three locks in a cycle. */
class ThreeLocks {
    static void both(Lock first, Lock second) {
        first.lock();
        try {
            second.lock();
            second.unlock();
        } finally {
            first.unlock();
        }
    }

    public static void main(String[] args) {
        Lock a = new ReentrantLock();
        Lock b = new ReentrantLock();
        Lock c = new ReentrantLock();
        new Thread(() -> both(a, b)).start();
        new Thread(() -> both(b, c)).start();
        new Thread(() -> both(c, a)).start();
    }
}

/** The same beside a counter that a lock protects. */
class ThreeLocksAndCounter {
    static int n;

    static synchronized void count() {
        n++;
    }

    public static void main(String[] args) {
        Lock a = new ReentrantLock();
        Lock b = new ReentrantLock();
        Lock c = new ReentrantLock();
        new Thread(() -> {
            ThreeLocks.both(a, b);
            count();
        }).start();
        new Thread(() -> {
            ThreeLocks.both(b, c);
            count();
        }).start();
        new Thread(() -> ThreeLocks.both(c, a)).start();
    }
}

/** Two threads that take permits in a cycle. */
class Permits {
    static void both(Semaphore first, Semaphore second) {
        first.acquireUninterruptibly();
        second.acquireUninterruptibly();
        second.release();
        first.release();
    }

    public static void main(String[] args) {
        Semaphore a = new Semaphore(1);
        Semaphore b = new Semaphore(1);
        new Thread(() -> both(a, b)).start();
        both(b, a);
    }
}

/** Two threads that share nothing, and a call of which nothing is known. */
class CallLeftOut {
    public static void main(String[] args) {
        new Thread(() -> System.out.println("one")).start();
        java.awt.Toolkit.getDefaultToolkit();
    }
}

/** Two threads that take two locks, which nothing tells apart. */
class LockLeftOut {
    final Lock[] locks = {new ReentrantLock(), new ReentrantLock()};
    int read;

    int first() {
        locks[0].lock();
        try {
            return read;
        } finally {
            locks[0].unlock();
        }
    }

    public static void main(String[] args) {
        LockLeftOut one = new LockLeftOut();
        new Thread(one::first).start();
        one.first();
    }
}

/** A thread that is not known, so its start is left out. */
class StartLeftOut {
    static Thread given;

    public static void main(String[] args) {
        new Thread(() -> System.out.println("one")).start();
        given.start();
    }
}

@Retention(RetentionPolicy.CLASS)
@interface NotThreadSafe {
}

/** Not meant to be shared, and shared. */
@NotThreadSafe
class Tally {
    int n;
}

/** Two threads that share an object about which nothing is asked. */
class AccessLeftOut {
    public static void main(String[] args) {
        Tally tally = new Tally();
        new Thread(() -> tally.n++).start();
        tally.n++;
    }
}
