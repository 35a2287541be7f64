// Units of work and sets of fields that somebody asks for or declares.

@interface Atomic {}

@interface AtomicSet {
    String value();
}

@interface GuardedBy {
    String value();
}

@interface NotThreadSafe {}

/** Whether there is a place and taking it are two calls; each is guarded. */
class Parking {
    private int free = 3;

    synchronized boolean hasFree() {
        return free > 0;
    }

    synchronized void park() {
        free = free - 1;
    }

    public static void main(String[] args) {
        Parking lot = new Parking();
        for (int i = 0; i < 2; i++) {
            new Thread(() -> {
                for (int car = 0; car < 9; car++) {
                    if (lot.hasFree()) {
                        lot.park();
                    }
                }
            }).start();
        }
    }
}

/** The same with the lot held in between. */
class ParkingHeld {
    private int free = 3;

    synchronized boolean hasFree() {
        return free > 0;
    }

    synchronized void park() {
        free = free - 1;
    }

    public static void main(String[] args) {
        ParkingHeld lot = new ParkingHeld();
        for (int i = 0; i < 2; i++) {
            new Thread(() -> {
                for (int car = 0; car < 9; car++) {
                    synchronized (lot) {
                        if (lot.hasFree()) {
                            lot.park();
                        }
                    }
                }
            }).start();
        }
    }
}

/** One call a pass, so passes are no units. */
class ParkingOne {
    private int free = 3;

    synchronized void park() {
        free = free - 1;
    }

    public static void main(String[] args) {
        ParkingOne lot = new ParkingOne();
        for (int i = 0; i < 2; i++) {
            new Thread(() -> {
                for (int car = 0; car < 9; car++) {
                    lot.park();
                }
            }).start();
        }
    }
}

/** A clerk asks a till twice. */
class Till {
    private int coins;

    synchronized int count() {
        return coins;
    }

    synchronized void set(int now) {
        coins = now;
    }

    public static void main(String[] args) {
        Till till = new Till();
        Clerk clerk = new Clerk(till);
        for (int i = 0; i < 2; i++) {
            new Thread(() -> clerk.pay()).start();
        }
    }
}

class Clerk {
    private final Till till;

    Clerk(Till till) {
        this.till = till;
    }

    void pay() {
        int now = till.count();
        till.set(now + 1);
    }
}

/** A private method is no unit unless somebody says so. */
class Ledger {
    private int lines;

    private void enter() {
        int now;
        synchronized (this) {
            now = lines;
        }
        synchronized (this) {
            lines = now + 1;
        }
    }

    public static void main(String[] args) {
        Ledger ledger = new Ledger();
        for (int i = 0; i < 2; i++) {
            new Thread(() -> ledger.enter()).start();
        }
    }
}

/** The same, and the source says so. */
class MarkedLedger {
    private int lines;

    @Atomic
    private void enter() {
        int now;
        synchronized (this) {
            now = lines;
        }
        synchronized (this) {
            lines = now + 1;
        }
    }

    public static void main(String[] args) {
        MarkedLedger ledger = new MarkedLedger();
        for (int i = 0; i < 2; i++) {
            new Thread(() -> ledger.enter()).start();
        }
    }
}

/** Two fields that may belong together, changed one after the other. */
class Dials {
    private int left;
    private int right;

    void turn(int by) {
        synchronized (this) {
            left = by;
        }
        synchronized (this) {
            right = by;
        }
    }

    synchronized int read() {
        return left - right;
    }

    public static void main(String[] args) {
        Dials dials = new Dials();
        new Thread(() -> dials.turn(1)).start();
        new Thread(() -> dials.read()).start();
    }
}

/** The same, and the source says that they do not. */
class MarkedDials {
    @AtomicSet("left")
    private int left;
    @AtomicSet("right")
    private int right;

    void turn(int by) {
        synchronized (this) {
            left = by;
        }
        synchronized (this) {
            right = by;
        }
    }

    synchronized int read() {
        return left - right;
    }

    public static void main(String[] args) {
        MarkedDials dials = new MarkedDials();
        new Thread(() -> dials.turn(1)).start();
        new Thread(() -> dials.read()).start();
    }
}

/** Not meant to be shared, and the source says so; the other one is. */
class Sketches {
    @NotThreadSafe
    static class Sketch {
        int strokes;
    }

    private int sheets;

    synchronized void add() {
        sheets = sheets + 1;
    }

    public static void main(String[] args) {
        Sketches all = new Sketches();
        Sketch sketch = new Sketch();
        for (int i = 0; i < 2; i++) {
            new Thread(() -> {
                sketch.strokes = sketch.strokes + 1;
                all.add();
            }).start();
        }
    }
}

/** Most accesses are wrong, and the source says which is right. */
class Vault {
    private final Object key = new Object();
    @GuardedBy("key")
    private int gold;
    @GuardedBy("this")
    private int silver;

    void store() {
        synchronized (key) {
            gold = 1;
        }
    }

    void spend() {
        gold = 2;
    }

    void lose() {
        gold = 3;
    }

    synchronized void polish() {
        silver = silver + 1;
    }

    public static void main(String[] args) {
        Vault vault = new Vault();
        new Thread(() -> vault.store()).start();
        new Thread(() -> vault.spend()).start();
        new Thread(() -> vault.lose()).start();
        new Thread(() -> vault.polish()).start();
        new Thread(() -> vault.polish()).start();
    }

    public void nobodyCalls() {
        gold = 4;
    }
}

/** Of two threads of one class, only one changes the total: the other was made with another number. */
class ChoiceApart {
    static int total;

    static class Worker extends Thread {
        private final int choice;
        private final boolean quiet;

        Worker(int choice, boolean quiet) {
            this.choice = choice;
            this.quiet = quiet;
        }

        @Override
        public void run() {
            if (choice == 1 && !quiet) {
                total = total + 1;
            }
        }
    }

    public static void main(String[] args) {
        new Worker(1, false).start();
        new Worker(2, false).start();
        new Worker(1, true).start();
    }
}

/** Both were made with the same number. */
class ChoiceSame {
    static int total;

    static class Worker extends Thread {
        private final int choice;

        Worker(int choice) {
            this.choice = choice;
        }

        @Override
        public void run() {
            switch (choice) {
                case 1:
                    total = total + 1;
                    break;
                default:
            }
        }
    }

    public static void main(String[] args) {
        new Worker(1).start();
        new Worker(1).start();
    }
}

/** The other thread may look before the number is there. */
class ChoiceLate {
    static int total;
    static volatile Worker last;

    static class Worker extends Thread {
        private int choice;

        Worker(int choice) {
            last = this;
            this.choice = choice;
        }

        @Override
        public void run() {
            total = total + 1;
        }
    }

    public static void main(String[] args) {
        new Thread(() -> {
            Worker other = last;
            if (other != null && other.choice == 0) {
                total = total + 1;
            }
        }).start();
        new Worker(1).start();
    }
}

/** Who changes the number may change it later. */
class ChoiceChanged {
    static int total;

    static class Worker extends Thread {
        private int choice;

        Worker(int choice) {
            this.choice = choice;
        }

        void choose(int other) {
            choice = other;
        }

        @Override
        public void run() {
            if (choice == 1) {
                total = total + 1;
            }
        }
    }

    public static void main(String[] args) {
        new Worker(1).start();
        Worker other = new Worker(2);
        other.choose(1);
        other.start();
    }
}

@interface PostConstruct {}

/** A field that is set up by a method that a framework calls. */
class Configured {
    private int limit;

    @PostConstruct
    void prepare() {
        limit = 3;
    }

    int use() {
        return limit + 1;
    }

    public static void main(String[] args) {
        Configured all = new Configured();
        new Thread(() -> all.prepare()).start();
        new Thread(() -> all.use()).start();
    }
}

/** The same without a word. */
class Unconfigured {
    private int limit;

    void prepare() {
        limit = 3;
    }

    int use() {
        return limit + 1;
    }

    public static void main(String[] args) {
        Unconfigured all = new Unconfigured();
        new Thread(() -> all.prepare()).start();
        new Thread(() -> all.use()).start();
    }
}

/** Whoever opens it has to hold its monitor; one does not. */
class Chest {
    private int coins;

    @GuardedBy("this")
    void open() {
        coins = coins + 1;
    }

    @GuardedBy("this")
    void close() {
        coins = coins - 1;
    }

    synchronized void put() {
        open();
        close();
    }

    void peek() {
        open();
    }

    public static void main(String[] args) {
        Chest chest = new Chest();
        new Thread(() -> chest.put()).start();
        new Thread(() -> chest.peek()).start();
    }
}

/** Everybody does. */
class ChestHeld {
    private int coins;

    @GuardedBy("this")
    void open() {
        coins = coins + 1;
    }

    synchronized void put() {
        open();
    }

    public static void main(String[] args) {
        ChestHeld chest = new ChestHeld();
        new Thread(() -> chest.put()).start();
        new Thread(() -> chest.put()).start();
    }
}
