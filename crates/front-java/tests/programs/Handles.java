import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;

/** Fields that are accessed by handles, and without them. */
class HandleWrong {
    int n;
    static final VarHandle N;
    static {
        try { N = MethodHandles.lookup().findVarHandle(HandleWrong.class, "n", int.class); }
        catch (ReflectiveOperationException e) { throw new ExceptionInInitializerError(e); }
    }
    public static void main(String[] args) {
        HandleWrong h = new HandleWrong();
        new Thread(() -> { N.getAndAdd(h, 1); }).start(); // wrong
        new Thread(() -> { h.n++; }).start(); // wrong
    }
}

class HandleRight {
    int n;
    static final VarHandle N;
    static {
        try { N = MethodHandles.lookup().findVarHandle(HandleRight.class, "n", int.class); }
        catch (ReflectiveOperationException e) { throw new ExceptionInInitializerError(e); }
    }
    public static void main(String[] args) {
        HandleRight h = new HandleRight();
        new Thread(() -> { N.getAndAdd(h, 1); }).start();
        new Thread(() -> { N.getAndAdd(h, 2); }).start();
        System.out.println((int) N.getVolatile(h));
    }
}

/** The field is volatile, and what is read is written in another step. */
class HandleBesideVolatileWrong {
    volatile int n;
    static final VarHandle N;
    static {
        try { N = MethodHandles.lookup().findVarHandle(HandleBesideVolatileWrong.class, "n", int.class); }
        catch (ReflectiveOperationException e) { throw new ExceptionInInitializerError(e); }
    }
    public static void main(String[] args) {
        HandleBesideVolatileWrong h = new HandleBesideVolatileWrong();
        new Thread(() -> { N.getAndAdd(h, 1); }).start();
        new Thread(() -> { h.n++; }).start(); // wrong
    }
}

/** In plain mode an access is plain whatever the field is. */
class HandlePlainWrong {
    volatile long n;
    static final VarHandle N;
    static {
        try { N = MethodHandles.lookup().findVarHandle(HandlePlainWrong.class, "n", long.class); }
        catch (ReflectiveOperationException e) { throw new ExceptionInInitializerError(e); }
    }
    public static void main(String[] args) {
        HandlePlainWrong h = new HandlePlainWrong();
        new Thread(() -> { N.set(h, 1L); }).start(); // wrong
        new Thread(() -> { System.out.println(h.n); }).start(); // wrong
    }
}

class HandlePlainRight {
    volatile long n;
    static final VarHandle N;
    static {
        try { N = MethodHandles.lookup().findVarHandle(HandlePlainRight.class, "n", long.class); }
        catch (ReflectiveOperationException e) { throw new ExceptionInInitializerError(e); }
    }
    public static void main(String[] args) {
        HandlePlainRight h = new HandlePlainRight();
        new Thread(() -> { N.setRelease(h, 1L); }).start();
        new Thread(() -> { System.out.println(h.n); }).start();
    }
}

/** Read and written by a handle, in two steps. */
class HandleInStepsWrong {
    private volatile int n;
    private static final AtomicIntegerFieldUpdater<HandleInStepsWrong> N =
        AtomicIntegerFieldUpdater.newUpdater(HandleInStepsWrong.class, "n");
    void add() {
        int before = N.get(this); // wrong
        N.set(this, before + 1); // wrong
    }
    public static void main(String[] args) {
        HandleInStepsWrong h = new HandleInStepsWrong();
        for (int i = 0; i < 2; i++) new Thread(h::add).start();
    }
}

class HandleInStepsRight {
    private volatile int n;
    private static final AtomicIntegerFieldUpdater<HandleInStepsRight> N =
        AtomicIntegerFieldUpdater.newUpdater(HandleInStepsRight.class, "n");
    void add() {
        int before;
        do before = N.get(this); while (!N.compareAndSet(this, before, before + 1));
    }
    public static void main(String[] args) {
        HandleInStepsRight h = new HandleInStepsRight();
        for (int i = 0; i < 2; i++) new Thread(h::add).start();
    }
}

/** What was read decides whether it is counted. */
class HandleLimitWrong {
    private volatile int n;
    private static final AtomicIntegerFieldUpdater<HandleLimitWrong> N =
        AtomicIntegerFieldUpdater.newUpdater(HandleLimitWrong.class, "n");
    void add() { if (N.get(this) < 3) N.incrementAndGet(this); } // wrong
    public static void main(String[] args) {
        HandleLimitWrong h = new HandleLimitWrong();
        for (int i = 0; i < 2; i++) new Thread(h::add).start();
    }
}

/** What a handle puts into a field is there for others. */
class HandlePublishesWrong {
    static class Item { int value; }
    volatile Item item;
    static final AtomicReferenceFieldUpdater<HandlePublishesWrong, Item> ITEM =
        AtomicReferenceFieldUpdater.newUpdater(HandlePublishesWrong.class, Item.class, "item");
    public static void main(String[] args) {
        HandlePublishesWrong h = new HandlePublishesWrong();
        new Thread(() -> {
            Item made = new Item();
            ITEM.compareAndSet(h, null, made);
            made.value++; // wrong
        }).start();
        new Thread(() -> {
            Item got = ITEM.get(h);
            if (got != null) got.value++; // wrong
        }).start();
    }
}

class HandlePublishesRight {
    static class Item { int value; }
    volatile Item item;
    static final AtomicReferenceFieldUpdater<HandlePublishesRight, Item> ITEM =
        AtomicReferenceFieldUpdater.newUpdater(HandlePublishesRight.class, Item.class, "item");
    public static void main(String[] args) {
        HandlePublishesRight h = new HandlePublishesRight();
        new Thread(() -> {
            Item made = new Item();
            made.value++;
            ITEM.compareAndSet(h, null, made);
        }).start();
        new Thread(() -> {
            Item got = ITEM.getAndSet(h, null);
            if (got != null) System.out.println(got.value);
        }).start();
    }
}

/** A handle writes the lock that a constructor wrote. */
class HandleOfLockWrong {
    static int total;
    static class Guard {
        Object lock = new Object();
        static final VarHandle LOCK;
        static {
            try { LOCK = MethodHandles.lookup().findVarHandle(Guard.class, "lock", Object.class); }
            catch (ReflectiveOperationException e) { throw new ExceptionInInitializerError(e); }
        }
        void renew() { LOCK.setVolatile(this, new Object()); }
        void add() {
            Object own = LOCK.getVolatile(this);
            synchronized (own) { total++; } // wrong
        }
    }
    public static void main(String[] args) {
        Guard guard = new Guard();
        new Thread(() -> { guard.add(); guard.renew(); }).start();
        new Thread(guard::add).start();
    }
}

/** A static field, and a field of a class above, of which objects of a class below are given. */
class HandleOfStaticWrong {
    static class Base { int n; }
    static class Below extends Base { }
    static long total;
    static final VarHandle TOTAL;
    static final VarHandle N;
    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            TOTAL = lookup.findStaticVarHandle(HandleOfStaticWrong.class, "total", long.class);
            N = lookup.findVarHandle(Below.class, "n", int.class);
        } catch (ReflectiveOperationException e) { throw new ExceptionInInitializerError(e); }
    }
    public static void main(String[] args) {
        Below below = new Below();
        new Thread(() -> { N.compareAndExchange(below, 0, 1); total = 2; }).start(); // wrong
        new Thread(() -> { below.n = 2; TOTAL.getAndAdd(1L); }).start(); // wrong
    }
}

class HandleOfStaticRight {
    static class Base { int n; }
    static class Below extends Base { }
    static long total;
    static final VarHandle TOTAL;
    static final VarHandle N;
    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            TOTAL = lookup.findStaticVarHandle(HandleOfStaticRight.class, "total", long.class);
            N = lookup.findVarHandle(Below.class, "n", int.class);
        } catch (ReflectiveOperationException e) { throw new ExceptionInInitializerError(e); }
    }
    public static void main(String[] args) {
        Below below = new Below();
        new Thread(() -> { N.compareAndExchange(below, 0, 1); TOTAL.setVolatile(2L); }).start();
        new Thread(() -> { N.setOpaque(below, 2); TOTAL.getAndAdd(1L); }).start();
    }
}

/** A handle that is passed on may be any. */
class HandlePassedWrong {
    int n;
    static final VarHandle N;
    static {
        try { N = MethodHandles.lookup().findVarHandle(HandlePassedWrong.class, "n", int.class); }
        catch (ReflectiveOperationException e) { throw new ExceptionInInitializerError(e); }
    }
    static void add(VarHandle by, HandlePassedWrong to) { by.set(to, 1); }
    public static void main(String[] args) {
        HandlePassedWrong h = new HandlePassedWrong();
        new Thread(() -> add(N, h)).start();
        new Thread(() -> add(N, h)).start();
    }
}

/** One step of a unit of work, or two. */
class HandleInUnitRight {
    private volatile int n;
    private static final AtomicIntegerFieldUpdater<HandleInUnitRight> N =
        AtomicIntegerFieldUpdater.newUpdater(HandleInUnitRight.class, "n");
    void addTwo() { N.getAndAdd(this, 2); }
    public static void main(String[] args) {
        HandleInUnitRight h = new HandleInUnitRight();
        for (int i = 0; i < 2; i++) new Thread(() -> h.addTwo()).start();
    }
}

class HandleInUnitWrong {
    private volatile int n;
    private static final AtomicIntegerFieldUpdater<HandleInUnitWrong> N =
        AtomicIntegerFieldUpdater.newUpdater(HandleInUnitWrong.class, "n");
    void addTwo() { N.getAndAdd(this, 1); N.getAndAdd(this, 1); } // wrong
    public static void main(String[] args) {
        HandleInUnitWrong h = new HandleInUnitWrong();
        for (int i = 0; i < 2; i++) new Thread(() -> h.addTwo()).start();
    }
}

/** A class below has a field of the same name and of another type. */
class HandleOfHiddenWrong {
    static class Base { int n; }
    static class Below extends Base { String n; }
    static final VarHandle N;
    static {
        try { N = MethodHandles.lookup().findVarHandle(Below.class, "n", int.class); }
        catch (ReflectiveOperationException e) { throw new ExceptionInInitializerError(e); }
    }
    public static void main(String[] args) {
        Below below = new Below();
        Base above = below;
        new Thread(() -> { N.set(below, 1); }).start();
        new Thread(() -> { above.n++; }).start();
    }
}
