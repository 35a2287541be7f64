/** Classes that any client may use: `Careless` ones are wrong, `Careful` ones are right. */
class SizedCareless {
    private int size;
    private final int[] cells = new int[8];

    public synchronized void put(int value) {
        cells[size % 8] = value;
        size++;
    }

    public int last() {
        return cells[size % 8]; // wrong
    }
}

class SizedCareful {
    private int size;
    private final int[] cells = new int[8];

    public synchronized void put(int value) {
        cells[size % 8] = value;
        size++;
    }

    public synchronized int last() {
        return cells[size % 8];
    }
}

class WalkedCareless {
    private int size;

    public synchronized void grow() {
        size++;
    }

    public synchronized Walk walk() {
        return new Walk();
    }

    public class Walk {
        public boolean more() {
            return size > 3; // wrong
        }
    }
}

class WalkedCareful {
    private int size;

    public synchronized void grow() {
        size++;
    }

    public synchronized Walk walk() {
        return new Walk();
    }

    public class Walk {
        public boolean more() {
            synchronized (WalkedCareful.this) {
                return size > 3;
            }
        }
    }
}

class JoinedCareless {
    private int size;

    public synchronized void grow() {
        size++;
    }

    public synchronized void join(JoinedCareless other) {
        size += other.size; // wrong
    }
}

class JoinedCareful {
    private int size;

    public void grow() {
        synchronized (JoinedCareful.class) {
            size++;
        }
    }

    public void join(JoinedCareful other) {
        synchronized (JoinedCareful.class) {
            size += other.size;
        }
    }
}

class GivenCareless {
    private final int[] cells = new int[8];

    public synchronized void put(int at) {
        cells[at]++; // wrong
    }

    public int[] cells() {
        return cells;
    }
}

class GivenCareful {
    private final int[] cells = new int[8];

    public synchronized void put(int at) {
        cells[at]++;
    }

    public synchronized int[] cells() {
        return cells.clone();
    }
}

class ListenedCareless {
    private int calls;

    public void fire(Runnable listener) {
        synchronized (this) {
            calls++; // wrong
        }
        listener.run();
        calls++; // wrong
    }
}

class ListenedCareful {
    private int calls;

    public void fire(Runnable listener) {
        listener.run();
        synchronized (this) {
            calls++;
        }
    }
}

/** What is called back may wait, and frees the lock. */
class PausedCareless {
    private int calls;

    public synchronized int fire(Runnable listener) {
        int before = calls;
        listener.run();
        calls = before + 1; // wrong
        return calls;
    }

    public synchronized void pause() throws InterruptedException {
        wait();
    }
}

class PausedCareful {
    private final Object signal = new Object();
    private int calls;
    private int pauses;

    public synchronized int fire(Runnable listener) {
        int before = calls;
        listener.run();
        calls = before + 1;
        return calls;
    }

    public void pause() throws InterruptedException {
        synchronized (signal) {
            pauses++;
            signal.wait();
        }
    }
}

/** The same where a list compares what it is asked for. */
class ComparedCareless {
    private final java.util.List<Object> seen = new java.util.ArrayList<>();
    private int calls;

    public synchronized boolean look(Object one) {
        int before = calls;
        boolean known = seen.contains(one);
        calls = before + 1; // wrong
        return known;
    }

    public synchronized void pause() throws InterruptedException {
        seen.add(this);
        wait();
    }
}

class ComparedCareful {
    private final java.util.List<Object> seen = new java.util.ArrayList<>();
    private int calls;

    public synchronized boolean look(Object one) {
        int before = calls;
        boolean known = seen.contains(one);
        calls = before + 1;
        return known;
    }

    public synchronized void add(Object one) {
        seen.add(one);
    }
}

/** Clients take the locks in any order. */
class LentLocks {
    private final java.util.concurrent.locks.ReentrantLock left = new java.util.concurrent.locks.ReentrantLock();
    private final java.util.concurrent.locks.ReentrantLock right = new java.util.concurrent.locks.ReentrantLock();

    public void takeLeft() {
        left.lock();
    }

    public void takeRight() {
        right.lock();
    }

    public void giveBoth() {
        left.unlock();
        right.unlock();
    }
}
