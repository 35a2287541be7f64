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
