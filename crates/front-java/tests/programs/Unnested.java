import java.util.concurrent.locks.*;

/** Locks that are freed in another order than they were taken. */
class HelperOtherNameWrong {
    static class Box { final ReentrantLock mutex; Box(ReentrantLock m) { mutex = m; } }
    static final ReentrantLock[] all = new ReentrantLock[2];
    static { for (int i = 0; i < 2; i++) all[i] = new ReentrantLock(); }
    static final Box one = new Box(all[0]);
    static final Box two = new Box(all[0]);
    static int n;
    static void leave(Box b) { b.mutex.unlock(); }
    static void add() { one.mutex.lock(); leave(two); n++; one.mutex.lock(); } // wrong
    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) new Thread(() -> add()).start();
    }
}

class SameOtherNameWrong {
    static class Box { final ReentrantLock mutex; Box(ReentrantLock m) { mutex = m; } }
    static final ReentrantLock[] all = new ReentrantLock[2];
    static { for (int i = 0; i < 2; i++) all[i] = new ReentrantLock(); }
    static final Box one = new Box(all[0]);
    static final Box two = new Box(all[0]);
    static int n;
    static void add() { one.mutex.lock(); two.mutex.unlock(); n++; } // wrong
    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) new Thread(() -> add()).start();
    }
}

class ChainRight {
    static final ReentrantLock a = new ReentrantLock();
    static final ReentrantLock b = new ReentrantLock();
    static int n, m;
    static void add() { a.lock(); n++; b.lock(); a.unlock(); m++; b.unlock(); }
    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) new Thread(() -> add()).start();
    }
}

class ChainWrong {
    static final ReentrantLock a = new ReentrantLock();
    static final ReentrantLock b = new ReentrantLock();
    static int n, m;
    static void add() { a.lock(); n++; b.lock(); a.unlock(); m++; b.unlock(); n++; } // wrong
    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) new Thread(() -> add()).start();
    }
}

class ChainHelperRight {
    static final ReentrantLock a = new ReentrantLock();
    static final ReentrantLock b = new ReentrantLock();
    static int n, m;
    static void lock(ReentrantLock l) { l.lock(); }
    static void unlock(ReentrantLock l) { l.unlock(); }
    static void add() { lock(a); n++; lock(b); unlock(a); m++; unlock(b); }
    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) new Thread(() -> add()).start();
    }
}

class ChainHelperWrong {
    static final ReentrantLock a = new ReentrantLock();
    static final ReentrantLock b = new ReentrantLock();
    static int n, m;
    static void lock(ReentrantLock l) { l.lock(); }
    static void unlock(ReentrantLock l) { l.unlock(); }
    static void add() { lock(a); n++; lock(b); unlock(a); m++; unlock(b); n++; } // wrong
    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) new Thread(() -> add()).start();
    }
}

class LeftHeldWrong {
    static final ReentrantLock lock = new ReentrantLock();
    static int n;
    static void add() {
        lock.lock();
        if (n > 3) throw new IllegalStateException();
        lock.unlock();
        n++; // wrong
    }
    public static void main(String[] args) { for (int i = 0; i < 2; i++) new Thread(() -> add()).start(); }
}

class LeftHeldRight {
    static final ReentrantLock lock = new ReentrantLock();
    static int n;
    static void add() {
        lock.lock();
        if (n > 3) throw new IllegalStateException();
        n++;
        lock.unlock();
    }
    public static void main(String[] args) { for (int i = 0; i < 2; i++) new Thread(() -> add()).start(); }
}

class ChainRecursionWrong {
    static final ReentrantLock a = new ReentrantLock();
    static final ReentrantLock b = new ReentrantLock();
    static int n, m;
    static void add(int depth) {
        a.lock();
        n++; // wrong
        b.lock();
        a.unlock();
        m++;
        b.unlock();
        n++; // wrong
        if (depth > 0) add(depth - 1);
    }
    public static void main(String[] args) { for (int i = 0; i < 2; i++) new Thread(() -> add(3)).start(); }
}

class ChainRecursionRight {
    static final ReentrantLock a = new ReentrantLock();
    static final ReentrantLock b = new ReentrantLock();
    static int n;
    private static void add(int depth) {
        a.lock();
        b.lock();
        a.unlock();
        n++;
        b.unlock();
        if (depth > 0) add(depth - 1);
    }
    public static void main(String[] args) { for (int i = 0; i < 2; i++) new Thread(() -> add(3)).start(); }
}

class ChainCycleWrong {
    static final ReentrantLock a = new ReentrantLock();
    static final ReentrantLock b = new ReentrantLock();
    static int n;
    static void one() { a.lock(); b.lock(); a.unlock(); n++; b.unlock(); } // wrong
    static void two() { b.lock(); a.lock(); n++; b.unlock(); a.unlock(); } // wrong
    public static void main(String[] args) {
        new Thread(() -> one()).start();
        new Thread(() -> two()).start();
    }
}

class ChainCycleRight {
    static final ReentrantLock a = new ReentrantLock();
    static final ReentrantLock b = new ReentrantLock();
    static int n;
    private static void one() { a.lock(); b.lock(); a.unlock(); n++; b.unlock(); }
    private static void two() { b.lock(); n++; b.unlock(); a.lock(); b.lock(); a.unlock(); n++; b.unlock(); }
    public static void main(String[] args) {
        new Thread(() -> one()).start();
        new Thread(() -> two()).start();
    }
}

class SwappedByHelperWrong {
    static final ReentrantLock a = new ReentrantLock();
    static final ReentrantLock b = new ReentrantLock();
    static int n;
    static void swap() { b.lock(); a.unlock(); }
    static void one() { a.lock(); swap(); n++; b.unlock(); } // wrong
    static void two() { a.lock(); try { n++; } finally { a.unlock(); } } // wrong
    public static void main(String[] args) {
        new Thread(() -> one()).start();
        new Thread(() -> two()).start();
    }
}

class SwappedByHelperRight {
    static final ReentrantLock a = new ReentrantLock();
    static final ReentrantLock b = new ReentrantLock();
    static int n;
    static void swap() { b.lock(); a.unlock(); }
    static void one() { a.lock(); swap(); n++; b.unlock(); }
    static void two() { b.lock(); try { n++; } finally { b.unlock(); } }
    public static void main(String[] args) {
        new Thread(() -> one()).start();
        new Thread(() -> two()).start();
    }
}

/** A helper keeps a lock on one of its ways, and the locks are taken in any order. */
class KeptByHelperWrong {
    static final java.util.concurrent.locks.ReentrantLock LEFT = new java.util.concurrent.locks.ReentrantLock();
    static final java.util.concurrent.locks.ReentrantLock RIGHT = new java.util.concurrent.locks.ReentrantLock();

    static void left(boolean keeps) {
        LEFT.lock(); // wrong
        if (!keeps) {
            LEFT.unlock();
        }
    }

    static void right(boolean keeps) {
        RIGHT.lock(); // wrong
        if (!keeps) {
            RIGHT.unlock();
        }
    }

    public static void main(String[] arguments) {
        boolean keeps = arguments.length == 0;
        new Thread(() -> {
            left(keeps);
            right(keeps);
            RIGHT.unlock();
            LEFT.unlock();
        }).start();
        new Thread(() -> {
            right(keeps);
            left(keeps);
            LEFT.unlock();
            RIGHT.unlock();
        }).start();
    }
}

/** A task may keep a lock, and the thread of the pool goes on with it. */
class LeftToPoolWrong {
    static final ReentrantLock STAMP = new ReentrantLock();
    static final ReentrantLock DESK = new ReentrantLock();
    static void take() { STAMP.lock(); }
    static void put() { STAMP.unlock(); }
    public static void main(String[] arguments) {
        boolean keeps = arguments.length == 0;
        java.util.concurrent.ExecutorService pool = java.util.concurrent.Executors.newSingleThreadExecutor();
        pool.submit(() -> {
            take();
            if (!keeps) put();
        });
        pool.submit(() -> {
            DESK.lock(); // wrong
            DESK.unlock();
        });
        DESK.lock();
        STAMP.lock(); // wrong
        STAMP.unlock();
        DESK.unlock();
    }
}

class LeftToPoolRight {
    static final ReentrantLock STAMP = new ReentrantLock();
    static final ReentrantLock DESK = new ReentrantLock();
    static int letters;
    static void take() { STAMP.lock(); }
    static void put() { STAMP.unlock(); }
    public static void main(String[] arguments) {
        java.util.concurrent.ExecutorService pool = java.util.concurrent.Executors.newSingleThreadExecutor();
        pool.submit(() -> {
            take();
            try {
                letters++;
            } finally {
                put();
            }
            if (STAMP.tryLock()) {
                try {
                    letters++;
                } finally {
                    STAMP.unlock();
                }
            }
        });
        pool.submit(() -> {
            DESK.lock();
            DESK.unlock();
        });
        DESK.lock();
        STAMP.lock();
        letters++;
        STAMP.unlock();
        DESK.unlock();
    }
}

/** A helper takes a lock twice and frees it once. */
class TakenTwiceWrong {
    static final ReentrantLock LEFT = new ReentrantLock();
    static final ReentrantLock RIGHT = new ReentrantLock();
    static int n;
    static void enter() {
        LEFT.lock(); // wrong
        try {
            LEFT.lock(); // wrong
            n++;
        } finally {
            LEFT.unlock();
        }
    }
    static void leave() { LEFT.unlock(); }
    public static void main(String[] arguments) {
        new Thread(() -> {
            enter();
            RIGHT.lock(); // wrong
            RIGHT.unlock();
            leave();
        }).start();
        new Thread(() -> {
            RIGHT.lock();
            enter(); // wrong
            leave();
            RIGHT.unlock();
        }).start();
    }
}

class TakenTwiceRight {
    static final ReentrantLock LEFT = new ReentrantLock();
    static final ReentrantLock RIGHT = new ReentrantLock();
    static int n;
    static void add() {
        LEFT.lock();
        try {
            LEFT.lock();
            try {
                n++;
            } finally {
                LEFT.unlock();
            }
        } finally {
            LEFT.unlock();
        }
    }
    public static void main(String[] arguments) {
        new Thread(() -> {
            add();
            RIGHT.lock();
            RIGHT.unlock();
        }).start();
        new Thread(() -> {
            RIGHT.lock();
            add();
            RIGHT.unlock();
        }).start();
    }
}

/** A task keeps one of two locks that were made at the same place. */
class LikeLockLeftWrong {
    static final ReentrantLock[] DOORS = new ReentrantLock[2];
    static final ReentrantLock GATE = new ReentrantLock();
    static void open() { DOORS[0].lock(); DOORS[1].lock(); }
    static void close() { DOORS[0].unlock(); }
    public static void main(String[] arguments) {
        for (int i = 0; i < 2; i++) DOORS[i] = new ReentrantLock();
        java.util.concurrent.ExecutorService pool = java.util.concurrent.Executors.newSingleThreadExecutor();
        pool.submit(() -> { open(); close(); });
        pool.submit(() -> { GATE.lock(); GATE.unlock(); }); // wrong
        GATE.lock();
        DOORS[1].lock(); // wrong
        DOORS[1].unlock();
        GATE.unlock();
    }
}

/** A helper that touches nothing of it frees the lock of whoever calls it and takes it again. */
class PauseDoor {
    static final ReentrantLock LOCK = new ReentrantLock();
    static void pause() {
        LOCK.unlock();
        LOCK.lock();
    }
}

class PausedByHelperWrong {
    static int n;
    static void add() {
        PauseDoor.LOCK.lock();
        try {
            int before = n;
            PauseDoor.pause();
            n = before + 1; // wrong
        } finally {
            PauseDoor.LOCK.unlock();
        }
    }
    public static void main(String[] arguments) {
        new Thread(PausedByHelperWrong::add).start();
        new Thread(PausedByHelperWrong::add).start();
    }
}

/** A helper takes a lock and says so. */
class EnteredWrong {
    static final ReentrantLock ROOM = new ReentrantLock();
    static final Object DOOR = new Object();
    static boolean enter() { ROOM.lock(); return true; }
    static void exit() { ROOM.unlock(); }
    public static void main(String[] arguments) {
        new Thread(() -> {
            if (enter()) {
                try {
                    synchronized (DOOR) { // wrong
                        System.out.println();
                    }
                } finally {
                    exit();
                }
            }
        }).start();
        new Thread(() -> {
            synchronized (DOOR) {
                if (enter()) exit(); // wrong
            }
        }).start();
    }
}
