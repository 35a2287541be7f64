import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import java.util.concurrent.locks.*;

/** More programs that look guarded, and some that are. */
class DeepOwnerWrong {
    static class D { int n; }
    static class C { final D d = new D(); }
    static class B { final C c = new C(); }
    static class A { final B b = new B(); }
    static class Top {
        final A a = new A();
        synchronized void add() { a.b.c.d.n++; } // wrong
        void more() { a.b.c.d.n++; } // wrong
    }
    public static void main(String[] args) {
        Top[] tops = { new Top(), new Top() };
        for (Top t : tops) for (int i = 0; i < 2; i++) new Thread(() -> { t.add(); t.more(); }).start();
    }
}

class LazyWrong {
    private static LazyWrong instance;
    int n;
    static LazyWrong get() {
        if (instance == null) { // wrong
            synchronized (LazyWrong.class) {
                if (instance == null) instance = new LazyWrong(); // wrong
            }
        }
        return instance;
    }
    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) new Thread(() -> get()).start();
    }
}

class HolderRight {
    static class Service { private int n; synchronized void hit() { n++; } }
    static class Holder { static final Service instance = new Service(); }
    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) new Thread(() -> Holder.instance.hit()).start();
    }
}

class TableInInitialiserRight {
    static class Tables {
        static final int[] squares = new int[9];
        static final Map<String, Integer> names = new HashMap<>();
        static { for (int i = 0; i < 9; i++) { squares[i] = i * i; names.put("n" + i, i); } }
    }
    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) new Thread(() -> { int x = Tables.squares[1] + Tables.names.get("n1"); }).start();
    }
}

class TableGivenAwayWrong {
    static int[] given;
    static class Tables {
        static final int[] squares = new int[9];
        static { given = squares; for (int i = 0; i < 9; i++) squares[i] = i; } // wrong
    }
    public static void main(String[] args) {
        new Thread(() -> { int[] g = given; if (g != null) g[0]++; }).start();
        int x = Tables.squares[1];
    }
}

class StripedWrong {
    static final Object[] locks = { new Object(), new Object() };
    static int n;
    static void add(int i) { synchronized (locks[i % 2]) { n++; } } // wrong
    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) { int k = i; new Thread(() -> add(k)).start(); }
    }
}

class OtherConditionWrong {
    static class Box {
        final Lock one = new ReentrantLock();
        final Lock two = new ReentrantLock();
        final Condition changed = one.newCondition();
        int n;
        void slow() throws InterruptedException {
            one.lock();
            two.lock();
            try { int before = n; changed.await(); n = before + 1; } finally { two.unlock(); one.unlock(); } // wrong
        }
        void fast() { one.lock(); try { n++; changed.signalAll(); } finally { one.unlock(); } }
    }
    public static void main(String[] args) {
        Box box = new Box();
        new Thread(() -> { try { box.slow(); } catch (InterruptedException e) { } }).start();
        new Thread(() -> box.fast()).start();
    }
}

class GetterLockRight {
    static class C {
        private final Object lock = new Object();
        private int n;
        Object lock() { return lock; }
        void add() { synchronized (lock()) { n++; } }
        void more() { synchronized (lock) { n++; } }
    }
    public static void main(String[] args) {
        C[] all = { new C(), new C() };
        for (C c : all) for (int i = 0; i < 2; i++) new Thread(() -> { c.add(); c.more(); }).start();
    }
}

class FreshLockWrong {
    static class C {
        private int n;
        Object lock() { return new Object(); }
        void add() { synchronized (lock()) { n++; } } // wrong
    }
    public static void main(String[] args) {
        C c = new C();
        for (int i = 0; i < 2; i++) new Thread(() -> c.add()).start();
    }
}

class SpinLockWrong {
    static class Spin implements Lock {
        private boolean taken;
        public void lock() { while (taken) Thread.yield(); taken = true; } // wrong
        public void unlock() { taken = false; } // wrong
        public boolean tryLock() { return false; }
        public boolean tryLock(long t, TimeUnit u) { return false; }
        public void lockInterruptibly() { lock(); }
        public Condition newCondition() { return null; }
    }
    static int n;
    public static void main(String[] args) {
        Lock spin = new Spin();
        for (int i = 0; i < 2; i++) new Thread(() -> { spin.lock(); n++; spin.unlock(); }).start(); // wrong
    }
}

class CapturedCellWrong {
    public static void main(String[] args) {
        int[] cell = { 0 };
        for (int i = 0; i < 2; i++) new Thread(() -> cell[0]++).start(); // wrong
    }
}

class AnonymousRight {
    static class C { private int n; void go() {
        new Thread(new Runnable() { public void run() { synchronized (C.this) { n++; } } }).start();
        synchronized (this) { n++; }
    } }
    public static void main(String[] args) { C[] all = { new C(), new C() }; for (C c : all) c.go(); }
}

class AnonymousWrong {
    static class C { private int n; void go() {
        new Thread(new Runnable() { public void run() { synchronized (this) { n++; } } }).start(); // wrong
        synchronized (this) { n++; } // wrong
    } }
    public static void main(String[] args) { C[] all = { new C(), new C() }; for (C c : all) c.go(); }
}

class ShadowedLockWrong {
    static class A { Object lock = new Object(); int n; void add() { synchronized (lock) { n++; } } } // wrong
    static class B extends A { Object lock = new Object(); void more() { synchronized (lock) { n++; } } } // wrong
    public static void main(String[] args) {
        B b = new B();
        new Thread(() -> b.add()).start();
        new Thread(() -> b.more()).start();
    }
}

class ReusedVariableWrong {
    static int n;
    public static void main(String[] args) throws Exception {
        Thread t = new Thread(() -> { n++; }); // wrong
        t.start();
        t = new Thread(() -> { });
        t.start();
        t.join();
        n++; // wrong
    }
}

class JoinInHelperRight {
    static int n;
    static void end(Thread t) throws InterruptedException { t.join(); }
    public static void main(String[] args) throws Exception {
        Thread t = new Thread(() -> { n++; });
        t.start();
        end(t);
        n++;
    }
}

class SwallowedJoinRight {
    static int n;
    public static void main(String[] args) {
        Thread t = new Thread(() -> { n++; });
        t.start();
        try { t.join(); } catch (InterruptedException e) { }
        n++;
    }
}

class SwallowedJoinWrong {
    static int n;
    public static void main(String[] args) {
        Thread self = Thread.currentThread();
        Thread t = new Thread(() -> { self.interrupt(); n++; }); // wrong
        t.start();
        try { t.join(); } catch (InterruptedException e) { }
        n++; // wrong
    }
}

class StringsAsBuffersWrong {
    static final char[] buffer = new char[9];
    public static void main(String[] args) {
        String s = "text";
        for (int i = 0; i < 2; i++) new Thread(() -> s.getChars(0, 2, buffer, 0)).start(); // wrong
    }
}

class UpdatedByFunctionWrong {
    static int n;
    static final AtomicInteger a = new AtomicInteger();
    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) new Thread(() -> a.updateAndGet(x -> { n++; return x; })).start(); // wrong
    }
}

class NodesWrong {
    static class Node { Node next; int n; }
    static class Chain {
        private Node head = new Node();
        synchronized void push() { Node node = new Node(); node.next = head; head = node; }
        synchronized Node top() { return head; }
    }
    public static void main(String[] args) {
        Chain chain = new Chain();
        for (int i = 0; i < 2; i++) new Thread(() -> { chain.push(); chain.top().n++; }).start(); // wrong
    }
}

class NodesRight {
    static class Node { Node next; int n; }
    static class Chain {
        private Node head = new Node();
        synchronized void push() { Node node = new Node(); node.next = head; head = node; }
        synchronized void count() { for (Node node = head; node != null; node = node.next) node.n++; }
    }
    public static void main(String[] args) {
        Chain chain = new Chain();
        for (int i = 0; i < 2; i++) new Thread(() -> { chain.push(); chain.count(); }).start();
    }
}

class LockWrapperRight {
    static class C {
        private final ReentrantLock lock = new ReentrantLock();
        private int n;
        private void enter() { lock.lock(); }
        private void leave() { lock.unlock(); }
        void add() { enter(); try { n++; } finally { leave(); } }
    }
    public static void main(String[] args) {
        C c = new C();
        for (int i = 0; i < 2; i++) new Thread(() -> c.add()).start();
    }
}

class ReadWriteRight {
    static class Box {
        private final ReadWriteLock rw = new ReentrantReadWriteLock();
        private int n;
        int get() { rw.readLock().lock(); try { return n; } finally { rw.readLock().unlock(); } }
        void add() { rw.writeLock().lock(); try { n++; } finally { rw.writeLock().unlock(); } }
    }
    public static void main(String[] args) {
        Box[] boxes = { new Box(), new Box() };
        for (Box box : boxes) for (int i = 0; i < 2; i++) new Thread(() -> { box.get(); box.add(); }).start();
    }
}

class ReadWriteFieldsRight {
    static class Box {
        private final ReentrantReadWriteLock rw = new ReentrantReadWriteLock();
        private final Lock r = rw.readLock();
        private final Lock w = rw.writeLock();
        private int n;
        int get() { r.lock(); try { return n; } finally { r.unlock(); } }
        void add() { w.lock(); try { n++; } finally { w.unlock(); } }
    }
    public static void main(String[] args) {
        Box[] boxes = { new Box(), new Box() };
        for (Box box : boxes) for (int i = 0; i < 2; i++) new Thread(() -> { box.get(); box.add(); }).start();
    }
}

class UpgradeWrong {
    static class Box {
        private final ReentrantReadWriteLock rw = new ReentrantReadWriteLock();
        private int n;
        void add() {
            int before;
            rw.readLock().lock();
            try { before = n; } finally { rw.readLock().unlock(); } // wrong
            rw.writeLock().lock();
            try { n = before + 1; } finally { rw.writeLock().unlock(); }
        }
    }
    public static void main(String[] args) {
        Box box = new Box();
        for (int i = 0; i < 2; i++) new Thread(() -> box.add()).start();
    }
}

class DowngradeRight {
    static class Box {
        private final ReentrantReadWriteLock rw = new ReentrantReadWriteLock();
        private int n;
        int add() {
            rw.writeLock().lock();
            try { n++; rw.readLock().lock(); } finally { rw.writeLock().unlock(); }
            try { return n; } finally { rw.readLock().unlock(); }
        }
    }
    public static void main(String[] args) {
        Box box = new Box();
        for (int i = 0; i < 2; i++) new Thread(() -> box.add()).start();
    }
}

class AwaitRight {
    static class Box {
        private final Lock lock = new ReentrantLock();
        private final Condition changed = lock.newCondition();
        private boolean ready;
        private int n;
        void slow() throws InterruptedException {
            lock.lock();
            try { while (!ready) changed.await(); n++; } finally { lock.unlock(); }
        }
        void fast() { lock.lock(); try { n++; ready = true; changed.signalAll(); } finally { lock.unlock(); } }
    }
    public static void main(String[] args) {
        Box box = new Box();
        new Thread(() -> { try { box.slow(); } catch (InterruptedException e) { } }).start();
        new Thread(() -> box.fast()).start();
    }
}

class SynchronizedListWrong {
    public static void main(String[] args) {
        List<String> plain = new ArrayList<>();
        List<String> list = Collections.synchronizedList(plain);
        new Thread(() -> list.add("a")).start();
        new Thread(() -> plain.add("b")).start(); // wrong
    }
}

class SiblingsRight {
    static int n;
    public static void main(String[] args) throws Exception {
        Thread a = new Thread(() -> { n++; });
        Thread b = new Thread(() -> { n += 2; });
        a.start();
        a.join();
        b.start();
        b.join();
        n++;
    }
}

class JoinLoopRight {
    static int n;
    static synchronized void add() { n++; }
    public static void main(String[] args) throws Exception {
        Thread[] all = new Thread[4];
        for (int i = 0; i < all.length; i++) { all[i] = new Thread(() -> add()); all[i].start(); }
        for (int i = 0; i < all.length; i++) all[i].join();
        System.out.println(n);
    }
}

class JoinLoopWrong {
    static int n;
    static synchronized void add() { n++; }
    public static void main(String[] args) throws Exception {
        Thread[] all = new Thread[4];
        for (int i = 0; i < all.length; i++) { all[i] = new Thread(() -> add()); all[i].start(); }
        for (int i = 1; i < all.length; i++) all[i].join();
        System.out.println(n); // wrong
    }
}

class JoinListRight {
    static int n;
    static synchronized void add() { n++; }
    public static void main(String[] args) throws Exception {
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < 4; i++) { Thread t = new Thread(() -> add()); all.add(t); t.start(); }
        for (Thread t : all) t.join();
        System.out.println(n);
    }
}

class JoinListWrong {
    static int n;
    static synchronized void add() { n++; }
    public static void main(String[] args) throws Exception {
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < 4; i++) { Thread t = new Thread(() -> add()); if (i > 0) all.add(t); t.start(); }
        for (Thread t : all) t.join();
        System.out.println(n); // wrong
    }
}

class JoinEachRight {
    static int n;
    static class W extends Thread { public void run() { synchronized (W.class) { n++; } } }
    public static void main(String[] args) {
        int count = args.length + 2;
        W[] all = new W[count];
        for (int i = 0; i < count; i++) all[i] = new W();
        for (int i = 0; i < count; i++) all[i].start();
        for (W w : all) { try { w.join(); } catch (InterruptedException e) { } }
        System.out.println(n);
    }
}

class JoinSomeWrong {
    static int n;
    static class W extends Thread { public void run() { synchronized (W.class) { n++; } } }
    public static void main(String[] args) throws Exception {
        W[] all = new W[4];
        for (int i = 0; i < 4; i++) { all[i] = new W(); all[i].start(); }
        for (int i = 0; i < 4; i++) { if (i % 2 == 0) all[i].join(); }
        System.out.println(n); // wrong
    }
}

class JoinSkipsWrong {
    static int n;
    static class W extends Thread { public void run() { synchronized (W.class) { n++; } } }
    public static void main(String[] args) throws Exception {
        W[] all = new W[4];
        for (int i = 0; i < 4; i++) { all[i] = new W(); all[i].start(); }
        for (int i = 0; i < 4; i++) { all[i].join(); i++; }
        System.out.println(n); // wrong
    }
}

class JoinFewerWrong {
    static int n;
    static class W extends Thread { public void run() { synchronized (W.class) { n++; } } }
    public static void main(String[] args) throws Exception {
        W[] all = new W[4];
        for (int i = 0; i < 4; i++) { all[i] = new W(); all[i].start(); }
        for (int i = 0; i < 3; i++) all[i].join();
        System.out.println(n); // wrong
    }
}

class JoinForgottenWrong {
    static int n;
    static class W extends Thread { public void run() { synchronized (W.class) { n++; } } }
    public static void main(String[] args) throws Exception {
        W[] all = new W[4];
        for (int i = 0; i < 4; i++) { all[i] = new W(); all[i].start(); }
        all = new W[0];
        for (W w : all) w.join();
        System.out.println(n); // wrong
    }
}
