/** Deadlocks: which locks are taken while which others are held. */
class TransferCycleWrong {
    static class Depot {
        int parcels;

        synchronized void send(Depot other, int count) {
            parcels -= count;
            other.receive(count); // wrong
        }

        synchronized void receive(int count) {
            parcels += count; // wrong
        }
    }

    public static void main(String[] args) {
        Depot[] depots = new Depot[4];
        for (int i = 0; i < depots.length; i++) {
            depots[i] = new Depot();
        }
        for (int i = 0; i < 4; i++) {
            Depot from = depots[i];
            Depot to = depots[(i + 1) % 4];
            new Thread(() -> from.send(to, 1)).start();
        }
    }
}

class TransferCycleRight {
    static final Object GATE = new Object();

    static class Depot {
        int parcels;

        void send(Depot other, int count) {
            synchronized (GATE) {
                synchronized (this) {
                    parcels -= count;
                    other.receive(count);
                }
            }
        }

        synchronized void receive(int count) {
            parcels += count;
        }
    }

    public static void main(String[] args) {
        Depot[] depots = new Depot[4];
        for (int i = 0; i < depots.length; i++) {
            depots[i] = new Depot();
        }
        for (int i = 0; i < 4; i++) {
            Depot from = depots[i];
            Depot to = depots[(i + 1) % 4];
            new Thread(() -> from.send(to, 1)).start();
            new Thread(() -> to.receive(1)).start();
        }
    }
}

class TwoClassesCycleWrong {
    static class Till {
        int coins;
        Safe safe;

        synchronized void empty() {
            coins = 0;
            safe.fill(); // wrong
        }

        synchronized void add() {
            coins++;
        }
    }

    static class Safe {
        int coins;
        Till till;

        synchronized void fill() {
            coins++;
        }

        synchronized void pay() {
            coins--;
            till.add(); // wrong
        }
    }

    public static void main(String[] args) {
        for (int i = 0; i < 3; i++) {
            Till till = new Till();
            Safe safe = new Safe();
            till.safe = safe;
            safe.till = till;
            new Thread(till::empty).start();
            new Thread(safe::pay).start();
        }
    }
}

class TwoClassesCycleRight {
    static class Till {
        int coins;
        Safe safe;

        synchronized void empty() {
            coins = 0;
            safe.fill();
        }
    }

    static class Safe {
        int coins;

        synchronized void fill() {
            coins++;
        }

        synchronized void pay() {
            coins--;
        }
    }

    public static void main(String[] args) {
        for (int i = 0; i < 3; i++) {
            Till till = new Till();
            Safe safe = new Safe();
            till.safe = safe;
            new Thread(till::empty).start();
            new Thread(safe::pay).start();
        }
    }
}

class ExplicitCycleWrong {
    static class Shelf {
        final java.util.concurrent.locks.ReentrantLock lock = new java.util.concurrent.locks.ReentrantLock();
        int books;

        void move(Shelf other) {
            lock.lock(); // wrong
            try {
                other.lock.lock(); // wrong
                try {
                    books--;
                    other.books++;
                } finally {
                    other.lock.unlock();
                }
            } finally {
                lock.unlock();
            }
        }
    }

    public static void main(String[] args) {
        Shelf one = new Shelf();
        Shelf two = new Shelf();
        for (int i = 0; i < 2; i++) {
            Shelf from = i == 0 ? one : two;
            Shelf to = i == 0 ? two : one;
            new Thread(() -> from.move(to)).start();
        }
    }
}

class ExplicitCycleRight {
    static class Shelf {
        final java.util.concurrent.locks.ReentrantLock lock = new java.util.concurrent.locks.ReentrantLock();
        int books;

        void move(Shelf other) {
            lock.lock();
            try {
                books--;
            } finally {
                lock.unlock();
            }
            other.take();
        }

        void take() {
            lock.lock();
            try {
                books++;
            } finally {
                lock.unlock();
            }
        }
    }

    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) {
            Shelf one = new Shelf();
            Shelf two = new Shelf();
            new Thread(() -> one.move(two)).start();
            new Thread(() -> two.move(one)).start();
        }
    }
}

class StaticCycleWrong {
    static int drawn;
    static final Object PEN = new Object();

    static synchronized void draw() {
        synchronized (PEN) { // wrong
            drawn++;
        }
    }

    static void erase() {
        synchronized (PEN) {
            clear(); // wrong
        }
    }

    static synchronized void clear() {
        synchronized (PEN) {
            drawn = 0;
        }
    }

    public static void main(String[] args) {
        new Thread(StaticCycleWrong::draw).start();
        new Thread(StaticCycleWrong::erase).start();
    }
}

class StaticCycleRight {
    static int drawn;
    static final Object PEN = new Object();

    static synchronized void draw() {
        synchronized (PEN) {
            drawn++;
        }
    }

    static synchronized void erase() {
        synchronized (PEN) {
            drawn = 0;
        }
    }

    public static void main(String[] args) {
        new Thread(StaticCycleRight::draw).start();
        new Thread(StaticCycleRight::erase).start();
    }
}

/** Three locks: found if three are asked about. */
class ThreeCycleThird {
    static final Object A = new Object();
    static final Object B = new Object();
    static final Object C = new Object();
    public static void main(String[] args) {
        new Thread(() -> {
            synchronized (A) {
                synchronized (B) { // wrong
                    System.out.println();
                }
            }
        }).start();
        new Thread(() -> {
            synchronized (B) {
                synchronized (C) { // wrong
                    System.out.println();
                }
            }
        }).start();
        new Thread(() -> {
            synchronized (C) {
                synchronized (A) { // wrong
                    System.out.println();
                }
            }
        }).start();
    }
}

/** Who reads does not let others write, himself among them. */
class ReaderWritesWrong {
    static final java.util.concurrent.locks.ReentrantReadWriteLock BOOK = new java.util.concurrent.locks.ReentrantReadWriteLock();
    static int pages;

    static void fill() {
        BOOK.readLock().lock();
        try {
            if (pages < 10) {
                write(); // wrong
            }
        } finally {
            BOOK.readLock().unlock();
        }
    }

    static void write() {
        BOOK.writeLock().lock();
        try {
            pages++;
        } finally {
            BOOK.writeLock().unlock();
        }
    }

    public static void main(String[] args) {
        new Thread(ReaderWritesWrong::fill).start();
        new Thread(ReaderWritesWrong::fill).start();
    }
}

class ReaderWritesRight {
    static final java.util.concurrent.locks.ReentrantReadWriteLock BOOK = new java.util.concurrent.locks.ReentrantReadWriteLock();
    static int pages;

    static boolean isEmpty() {
        BOOK.readLock().lock();
        try {
            return pages == 0;
        } finally {
            BOOK.readLock().unlock();
        }
    }

    static void write() {
        BOOK.writeLock().lock();
        try {
            pages++;
            BOOK.readLock().lock();
        } finally {
            BOOK.writeLock().unlock();
        }
        BOOK.readLock().unlock();
    }

    public static void main(String[] args) {
        new Thread(() -> { isEmpty(); write(); }).start();
        new Thread(() -> { isEmpty(); write(); }).start();
    }
}
