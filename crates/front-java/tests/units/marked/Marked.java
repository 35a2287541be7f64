@interface ThreadSafe {}

/** Says that it may be shared, and is. */
@ThreadSafe
class SafeTally {
    private int n;

    public synchronized void add() {
        n++;
    }

    public synchronized int get() {
        return n;
    }
}

/** Says so, and is not. */
@ThreadSafe
class UnsafeTally {
    private int n;

    public synchronized void add() {
        n++;
    }

    public int take() {
        return n--;
    }
}
