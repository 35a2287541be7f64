import java.util.*;
import java.util.concurrent.locks.*;

/** Locks that are taken and freed by helpers. */
class ConditionalWrapperWrong {
    static class C {
        private final ReentrantLock lock = new ReentrantLock();
        private int n;
        boolean enter(boolean really) { if (really) { lock.lock(); return true; } return false; }
        void leave() { if (lock.isHeldByCurrentThread()) lock.unlock(); }
        void add(boolean really) { enter(really); n++; leave(); } // wrong
    }
    public static void main(String[] args) {
        C c = new C();
        for (int i = 0; i < 2; i++) new Thread(() -> c.add(args.length > 3)).start();
    }
}

class WrapperTwiceRight {
    static class C {
        private final ReentrantLock lock = new ReentrantLock();
        private int n;
        private void enter() { lock.lock(); }
        private void leave() { lock.unlock(); }
        private void inner() { enter(); try { n++; } finally { leave(); } }
        void add() { enter(); try { inner(); n++; } finally { leave(); } }
    }
    public static void main(String[] args) {
        C c = new C();
        for (int i = 0; i < 2; i++) new Thread(() -> c.add()).start();
    }
}

class WrapperTwiceWrong {
    static class C {
        private final ReentrantLock lock = new ReentrantLock();
        private int n;
        private void enter() { lock.lock(); }
        private void leave() { lock.unlock(); }
        private void inner() { enter(); leave(); leave(); }
        void add() { enter(); inner(); n++; } // wrong
    }
    public static void main(String[] args) {
        C c = new C();
        for (int i = 0; i < 2; i++) new Thread(() -> c.add()).start();
    }
}

class WrapperOfAnotherWrong {
    static class C {
        private final ReentrantLock lock = new ReentrantLock();
        private int n;
        void enter() { lock.lock(); }
        void leave() { lock.unlock(); }
        void add(C other) { other.enter(); n++; other.leave(); } // wrong
    }
    public static void main(String[] args) {
        C[] all = { new C(), new C(), new C() };
        for (int i = 0; i < 2; i++) { C other = all[i]; new Thread(() -> all[2].add(other)).start(); }
    }
}

class WrapperAsTemplateRight {
    static class C {
        private final ReentrantLock lock = new ReentrantLock();
        private int n;
        void with(Runnable r) { lock.lock(); try { r.run(); } finally { lock.unlock(); } }
        void add() { with(() -> n++); }
    }
    public static void main(String[] args) {
        C c = new C();
        for (int i = 0; i < 2; i++) new Thread(() -> c.add()).start();
    }
}

class WrapperAsTemplateWrong {
    static class C {
        private final ReentrantLock lock = new ReentrantLock();
        private int n;
        void with(Runnable r) { lock.lock(); lock.unlock(); r.run(); }
        void add() { with(() -> n++); } // wrong
    }
    public static void main(String[] args) {
        C c = new C();
        for (int i = 0; i < 2; i++) new Thread(() -> c.add()).start();
    }
}

class AwaitInHelperWrong {
    static class C {
        private final ReentrantLock lock = new ReentrantLock();
        private final Condition changed = lock.newCondition();
        private int n;
        private void pause() throws InterruptedException { changed.await(); }
        void slow() throws InterruptedException { lock.lock(); try { int before = n; pause(); n = before + 1; } finally { lock.unlock(); } } // wrong
        void fast() { lock.lock(); try { n++; changed.signalAll(); } finally { lock.unlock(); } }
    }
    public static void main(String[] args) {
        C c = new C();
        new Thread(() -> { try { c.slow(); } catch (InterruptedException e) { } }).start();
        new Thread(() -> c.fast()).start();
    }
}

class WriteConditionWrong {
    static class C {
        private final ReentrantReadWriteLock rw = new ReentrantReadWriteLock();
        private final Condition changed = rw.writeLock().newCondition();
        private int n;
        void slow() throws InterruptedException { rw.writeLock().lock(); try { int before = n; changed.await(); n = before + 1; } finally { rw.writeLock().unlock(); } } // wrong
        void fast() { rw.writeLock().lock(); try { n++; changed.signalAll(); } finally { rw.writeLock().unlock(); } }
    }
    public static void main(String[] args) {
        C c = new C();
        new Thread(() -> { try { c.slow(); } catch (InterruptedException e) { } }).start();
        new Thread(() -> c.fast()).start();
    }
}

class SharedReadWriteWrong {
    static class C {
        private final ReadWriteLock rw;
        private int n;
        C(ReadWriteLock rw) { this.rw = rw; }
        void add(C twin) { rw.writeLock().lock(); twin.rw.writeLock().unlock(); n++; } // wrong
    }
    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) {
            ReadWriteLock rw = new ReentrantReadWriteLock();
            C one = new C(rw);
            C two = new C(rw);
            new Thread(() -> one.add(two)).start();
            new Thread(() -> one.add(two)).start();
        }
    }
}

class GivenReadLockWrong {
    static class C {
        private final Lock lock;
        private int n;
        C(Lock lock) { this.lock = lock; }
        void add() { lock.lock(); try { n++; } finally { lock.unlock(); } } // wrong
    }
    public static void main(String[] args) {
        ReentrantReadWriteLock rw = new ReentrantReadWriteLock();
        C c = new C(rw.readLock());
        for (int i = 0; i < 2; i++) new Thread(() -> c.add()).start();
    }
}

class StampedViewWrong {
    static class C {
        private final Lock lock = new StampedLock().asReadLock();
        private int n;
        void add() { lock.lock(); try { n++; } finally { lock.unlock(); } } // wrong
    }
    public static void main(String[] args) {
        C c = new C();
        for (int i = 0; i < 2; i++) new Thread(() -> c.add()).start();
    }
}

class StaticConditionWrong {
    static final ReentrantLock lock = new ReentrantLock();
    static final Condition changed = lock.newCondition();
    static int n;
    static void slow() throws InterruptedException { lock.lock(); try { int before = n; changed.await(); n = before + 1; } finally { lock.unlock(); } } // wrong
    static void fast() { lock.lock(); try { n++; changed.signalAll(); } finally { lock.unlock(); } }
    public static void main(String[] args) {
        new Thread(() -> { try { slow(); } catch (InterruptedException e) { } }).start();
        new Thread(() -> fast()).start();
    }
}

class StaticConditionRight {
    static final ReentrantLock lock = new ReentrantLock();
    static final Condition changed = lock.newCondition();
    static boolean ready;
    static int n;
    static void slow() throws InterruptedException { lock.lock(); try { while (!ready) changed.await(); n++; } finally { lock.unlock(); } }
    static void fast() { lock.lock(); try { n++; ready = true; changed.signalAll(); } finally { lock.unlock(); } }
    public static void main(String[] args) {
        new Thread(() -> { try { slow(); } catch (InterruptedException e) { } }).start();
        new Thread(() -> fast()).start();
    }
}
