import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** An object that is stored in itself is known to nobody for that; one that is loaded from itself and given away is. */
class SelfStoredCareful {
    private final SelfStoredCareful itself;
    private int size;

    public SelfStoredCareful(int first) {
        itself = this;
        itself.size = first;
    }

    public synchronized boolean isItself() {
        return itself == this && size > 0;
    }

    public synchronized void grow() {
        size++;
    }
}

class SelfStoredCareless {
    private static volatile SelfStoredCareless last;
    private final SelfStoredCareless itself;
    private int size;

    public SelfStoredCareless(int first) {
        itself = this;
        last = itself;
        size = first; // wrong
    }

    public static void growLast() {
        SelfStoredCareless one = last;
        if (one != null) {
            one.grow();
        }
    }

    private synchronized void grow() {
        size++; // wrong
    }
}

/** The same where a helper gives it back, and it is put into something else first. */
class SelfHandedCareless {
    private static volatile Object[] all;
    private SelfHandedCareless itself;
    private int size;

    public SelfHandedCareless(int first) {
        itself = this;
        Object[] own = new Object[1];
        own[0] = same();
        all = own;
        size = first; // wrong
    }

    private SelfHandedCareless same() {
        return itself;
    }

    public static void growFirst() {
        Object[] known = all;
        if (known != null) {
            ((SelfHandedCareless) known[0]).grow();
        }
    }

    private synchronized void grow() {
        size++; // wrong
    }
}

/** The same where a copy has it. */
class SelfCopiedCareless implements Cloneable {
    private static volatile SelfCopiedCareless copy;
    private SelfCopiedCareless itself;
    private int size;

    public SelfCopiedCareless(int first) throws CloneNotSupportedException {
        itself = this;
        copy = (SelfCopiedCareless) clone();
        size = first; // wrong
    }

    public static void growCopied() {
        SelfCopiedCareless one = copy;
        if (one != null) {
            one.itself.grow();
        }
    }

    private synchronized void grow() {
        size++; // wrong
    }
}

/** What is called back may wait, which frees the lock where it is called back and nowhere else. */
class DrainedCareful {
    private int size;

    public synchronized void put() {
        size++;
        notifyAll();
    }

    public synchronized void take() throws InterruptedException {
        while (size == 0) {
            wait();
        }
        size--;
    }

    public synchronized void look(Runnable listener) {
        listener.run();
        size = 0;
    }
}

class DrainedCareless {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition filled = lock.newCondition();
    private int size;

    public void put() {
        lock.lock();
        try {
            size++;
            filled.signal();
        } finally {
            lock.unlock();
        }
    }

    public void take() throws InterruptedException {
        lock.lock();
        try {
            while (size == 0) {
                filled.await();
            }
            size--;
        } finally {
            lock.unlock();
        }
    }

    public void look(Runnable listener) {
        lock.lock();
        try {
            int before = size;
            listener.run();
            size = before; // wrong
        } finally {
            lock.unlock();
        }
    }
}

/** The same under two monitors, of which the outer one is freed. */
class TwiceHeldCareless {
    private final Object inner = new Object();
    private int calls;

    public synchronized void fire(Runnable listener) {
        int before = calls;
        synchronized (inner) {
            listener.run();
        }
        calls = before + 1; // wrong
    }

    public synchronized void count() {
        calls++; // wrong
    }

    public synchronized void pause() throws InterruptedException {
        wait();
    }
}

/** The same where a caller holds it, too. */
class HeldAboveCareless {
    private int calls;

    public synchronized void fire(Runnable listener) {
        int before = calls;
        tell(listener);
        calls = before + 1; // wrong
    }

    private synchronized void tell(Runnable listener) {
        listener.run();
    }

    public synchronized void count() {
        calls++;
    }

    public synchronized void pause() throws InterruptedException {
        wait();
    }
}

/** Locks that are taken in one order, however deep; and in two. */
class DeepOrderCareful {
    private final Object inner = new Object();
    private int size;
    private int depth;

    public synchronized void down(int levels) {
        size++;
        synchronized (inner) {
            depth++;
            if (levels > 0) {
                down(levels - 1);
            }
        }
    }

    public synchronized int size() {
        return size;
    }

    public int depth() {
        synchronized (inner) {
            return depth;
        }
    }
}

class DeepOrderCareless {
    private final Object inner = new Object();
    private int size;

    public synchronized void down(int levels) {
        synchronized (inner) { // wrong
            size++;
            if (levels > 0) {
                down(levels - 1);
            }
        }
    }

    public void up(int levels) {
        synchronized (inner) {
            synchronized (this) { // wrong
                if (levels > 0) {
                    up(levels - 1);
                }
                size--;
            }
        }
    }
}

/** The same where a handle of the field gives it back. */
class SelfFetchedCareless {
    private static final java.util.concurrent.atomic.AtomicReferenceFieldUpdater<SelfFetchedCareless, SelfFetchedCareless> ITSELF =
            java.util.concurrent.atomic.AtomicReferenceFieldUpdater.newUpdater(
                    SelfFetchedCareless.class, SelfFetchedCareless.class, "itself");
    private static volatile SelfFetchedCareless last;
    private volatile SelfFetchedCareless itself;
    private int size;

    public SelfFetchedCareless(int first) {
        itself = this;
        last = ITSELF.get(this);
        size = first; // wrong
    }

    public static void growLast() {
        SelfFetchedCareless one = last;
        if (one != null) {
            one.grow();
        }
    }

    private synchronized void grow() {
        size++; // wrong
    }
}
