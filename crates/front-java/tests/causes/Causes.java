import java.util.concurrent.atomic.AtomicInteger;

/** Seven of eight accesses are guarded; one method forgets the lock. */
class LogBook {
    private int lines;
    private int longest;

    synchronized void add(int length) {
        lines = lines + 1;
        if (length > longest) {
            longest = length;
        }
    }

    synchronized void addTwo() {
        lines = lines + 2;
    }

    synchronized int half() {
        return lines / 2;
    }

    synchronized boolean any() {
        return lines > 0;
    }

    void clear() {
        lines = 0;
    }

    public static void main(String[] args) {
        LogBook book = new LogBook();
        Runnable writer = () -> {
            book.add(3);
            book.addTwo();
        };
        new Thread(writer).start();
        new Thread(() -> {
            if (book.any() && book.half() > 10) {
                book.clear();
            }
        }).start();
    }
}

/** Nothing at all keeps threads apart. */
class Inventory {
    int bolts;
    int nuts;
    int crates;

    void pack() {
        bolts = bolts - 4;
        nuts = nuts - 4;
        crates = crates + 1;
    }

    void unpack() {
        crates = crates - 1;
        bolts = bolts + 4;
        nuts = nuts + 4;
    }

    public static void main(String[] args) {
        Inventory inventory = new Inventory();
        for (int i = 0; i < 3; i++) {
            new Thread(inventory::pack).start();
            new Thread(inventory::unpack).start();
        }
    }
}

/** Who looks does not hold the lock. */
class Thermometer {
    private int degrees;

    synchronized void warmer() {
        degrees = degrees + 1;
    }

    synchronized void colder() {
        degrees = degrees - 1;
    }

    int getDegrees() {
        return degrees;
    }

    public static void main(String[] args) {
        Thermometer one = new Thermometer();
        new Thread(() -> one.warmer()).start();
        new Thread(() -> one.colder()).start();
        new Thread(() -> System.out.println(one.getDegrees())).start();
    }
}

/** Two threads have a half of an array each. */
class Halves {
    public static void main(String[] args) {
        int[] cells = new int[8];
        new Thread(() -> cells[0] = 1).start();
        new Thread(() -> cells[4] = 1).start();
    }
}

/** Looks without the lock, and looks again with it. */
class Once {
    private volatile Object made;

    Object get() {
        if (made == null) {
            synchronized (this) {
                if (made == null) {
                    made = new Object();
                }
            }
        }
        return made;
    }

    public static void main(String[] args) {
        Once once = new Once();
        for (int i = 0; i < 2; i++) {
            new Thread(() -> once.get()).start();
        }
    }
}

/** Tries again until nobody has come between. */
class Spinning {
    private final AtomicInteger number = new AtomicInteger();

    void twice() {
        int seen;
        do {
            seen = number.get();
        } while (!number.compareAndSet(seen, seen * 2));
    }

    public static void main(String[] args) {
        Spinning spinning = new Spinning();
        for (int i = 0; i < 2; i++) {
            new Thread(() -> spinning.twice()).start();
        }
    }
}

/** The lock is freed between looking and acting. */
class Cellar {
    private int bottles = 5;

    private synchronized int left() {
        return bottles;
    }

    private synchronized void set(int number) {
        bottles = number;
    }

    void take() {
        int left = left();
        if (left > 0) {
            set(left - 1);
        }
    }

    public static void main(String[] args) {
        Cellar cellar = new Cellar();
        for (int i = 0; i < 2; i++) {
            new Thread(() -> cellar.take()).start();
        }
    }
}

/** Written under one lock, read under another. */
class TwoKeys {
    private final Object inner = new Object();
    private final Object outer = new Object();
    private int money;

    void put() {
        synchronized (inner) {
            money = money + 1;
        }
    }

    void spend() {
        synchronized (outer) {
            money = money - 1;
        }
    }

    public static void main(String[] args) {
        TwoKeys keys = new TwoKeys();
        new Thread(() -> keys.put()).start();
        new Thread(() -> keys.spend()).start();
    }
}
