import java.util.concurrent.locks.*;

/** What frees a lock in the middle of a block. */
class AwaitWrong {
    static class Box {
        final Lock lock = new ReentrantLock();
        final Condition changed = lock.newCondition();
        int n;
        void slow() throws InterruptedException {
            lock.lock();
            try { int before = n; changed.await(); n = before + 1; } finally { lock.unlock(); } // wrong
        }
        void fast() {
            lock.lock();
            try { n += 100; changed.signalAll(); } finally { lock.unlock(); }
        }
    }
    public static void main(String[] args) {
        Box box = new Box();
        new Thread(() -> { try { box.slow(); } catch (InterruptedException e) { } }).start();
        new Thread(() -> box.fast()).start();
    }
}

class ExplicitLockRight {
    static class Box {
        final Lock lock = new ReentrantLock();
        int n;
        void add() {
            lock.lock();
            try { n++; } finally { lock.unlock(); }
        }
        boolean tryAdd() {
            if (lock.tryLock()) {
                try { n++; } finally { lock.unlock(); }
                return true;
            }
            return false;
        }
    }
    public static void main(String[] args) {
        Box box = new Box();
        for (int i = 0; i < 2; i++) new Thread(() -> { box.add(); box.tryAdd(); }).start();
    }
}

class ExplicitLockWrong {
    static class Box {
        final Lock lock = new ReentrantLock();
        int n;
        void add() {
            lock.lock();
            try { n++; } finally { lock.unlock(); } // wrong
        }
        boolean tryAdd() {
            lock.tryLock();
            n++; // wrong
            return false;
        }
    }
    public static void main(String[] args) {
        Box box = new Box();
        for (int i = 0; i < 2; i++) new Thread(() -> { box.add(); box.tryAdd(); }).start();
    }
}

class JoinUnderOwnMonitorWrong {
    static class W extends Thread {
        int n;
        public void run() { synchronized (this) { n = 10; } }
    }
    static W w = new W();
    public static void main(String[] args) throws Exception {
        W t = w;
        t.start();
        synchronized (t) { int before = t.n; t.join(); t.n = before + 1; } // wrong
    }
}

class WaitInUnitWrong {
    static class Box {
        int n;
        synchronized void slow() throws InterruptedException { int before = n; wait(); n = before + 1; } // wrong
        synchronized void fast() { n += 100; notifyAll(); }
    }
    public static void main(String[] args) {
        Box box = new Box();
        new Thread(() -> { try { box.slow(); } catch (InterruptedException e) { } }).start();
        new Thread(() -> box.fast()).start();
    }
}

class WaitForRight {
    static class Box {
        boolean ready;
        int n;
        synchronized void slow() throws InterruptedException { while (!ready) wait(); n++; }
        synchronized void fast() { n += 100; ready = true; notifyAll(); }
    }
    public static void main(String[] args) {
        Box box = new Box();
        new Thread(() -> { try { box.slow(); } catch (InterruptedException e) { } }).start();
        new Thread(() -> box.fast()).start();
    }
}
