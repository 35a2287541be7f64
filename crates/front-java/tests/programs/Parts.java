/** What an object owns and guards for itself is asked about by itself. */
class PartCountsWrong {
    static class Statistics {
        private long total;
        void count() { total++; } // wrong
        synchronized long total() { return total; }
    }
    static class Service {
        private final Statistics statistics = new Statistics();
        void run() { statistics.count(); }
        long report() { return statistics.total(); }
    }
    static class Worker implements Runnable {
        private final Service service;
        Worker(Service service) { this.service = service; }
        public void run() { service.run(); if (service.report() < 0) throw new IllegalStateException(); }
    }
    static class Module {
        private final Service service;
        Module() { service = new Service(); }
        void start() { for (int i = 0; i < 2; i++) new Thread(new Worker(service)).start(); }
    }
    public static void main(String[] args) { new Module().start(); }
}

class PartCountsRight {
    static class Statistics {
        private long total;
        synchronized void count() { total++; }
        synchronized long total() { return total; }
    }
    static class Service {
        private final Statistics statistics = new Statistics();
        void run() { statistics.count(); }
        long report() { return statistics.total(); }
    }
    static class Worker implements Runnable {
        private final Service service;
        Worker(Service service) { this.service = service; }
        public void run() { service.run(); if (service.report() < 0) throw new IllegalStateException(); }
    }
    static class Module {
        private final Service service;
        Module() { service = new Service(); }
        void start() { for (int i = 0; i < 2; i++) new Thread(new Worker(service)).start(); }
    }
    public static void main(String[] args) { new Module().start(); }
}

class PartHasLockWrong {
    static class Cache {
        private final Object lock = new Object();
        private int hits;
        void hit() { synchronized (lock) { hits++; } } // wrong
        int hits() { synchronized (this) { return hits; } } // wrong
    }
    static class Shop {
        private final Cache cache = new Cache();
        void look() { cache.hit(); }
        int seen() { return cache.hits(); }
    }
    public static void main(String[] args) {
        Shop shop = new Shop();
        for (int i = 0; i < 2; i++) new Thread(() -> { shop.look(); shop.seen(); }).start();
    }
}

class PartHasLockRight {
    static class Cache {
        private final Object lock = new Object();
        private int hits;
        void hit() { synchronized (lock) { hits++; } }
        int hits() { synchronized (lock) { return hits; } }
    }
    static class Shop {
        private final Cache cache = new Cache();
        void look() { cache.hit(); }
        int seen() { return cache.hits(); }
    }
    public static void main(String[] args) {
        Shop shop = new Shop();
        for (int i = 0; i < 2; i++) new Thread(() -> { shop.look(); shop.seen(); }).start();
    }
}

class PartHasConstantWrong {
    static class Gate {
        private final int width = 3;
        private int inside;
        void enter() { if (inside < width) inside++; } // wrong
    }
    static class Hall {
        private final Gate gate = new Gate();
        void visit() { gate.enter(); }
    }
    public static void main(String[] args) {
        Hall hall = new Hall();
        new Thread(() -> hall.visit()).start();
        new Thread(() -> hall.visit()).start();
    }
}

class PartHasConstantRight {
    static class Gate {
        private final int width = 3;
        private int inside;
        void enter() { if (inside < width) inside++; }
    }
    static class Hall {
        private final Gate gate = new Gate();
        synchronized void visit() { gate.enter(); }
    }
    public static void main(String[] args) {
        Hall hall = new Hall();
        new Thread(() -> hall.visit()).start();
        new Thread(() -> hall.visit()).start();
    }
}

class PartOfPartWrong {
    static class Shelf {
        private final java.util.List<String> books = new java.util.ArrayList<>();
        void put(String book) { books.add(book); } // wrong
        synchronized int count() { return books.size(); }
    }
    static class Room {
        private final Shelf shelf = new Shelf();
        synchronized int count() { return shelf.count(); }
        void put(String book) { shelf.put(book); }
    }
    static class House {
        private final Room room = new Room();
        void furnish() { room.put("a"); }
        int look() { return room.count(); }
    }
    public static void main(String[] args) {
        House house = new House();
        for (int i = 0; i < 2; i++) new Thread(() -> { house.furnish(); house.look(); }).start();
    }
}

class PartOfPartRight {
    static class Shelf {
        private final java.util.List<String> books = new java.util.ArrayList<>();
        synchronized void put(String book) { books.add(book); }
        synchronized int count() { return books.size(); }
    }
    static class Room {
        private final Shelf shelf = new Shelf();
        int count() { return shelf.count(); }
        void put(String book) { shelf.put(book); }
    }
    static class House {
        private final Room room = new Room();
        void furnish() { room.put("a"); }
        int look() { return room.count(); }
    }
    public static void main(String[] args) {
        House house = new House();
        for (int i = 0; i < 2; i++) new Thread(() -> { house.furnish(); house.look(); }).start();
    }
}

/** The work of an owner is no unit for what guards itself; that of the part is. */
class CarelessServer {
    private final PartCalledTwiceWrong pool = new PartCalledTwiceWrong();
    void serve() { if (pool.tryTake()) pool.give(); }
}

class PartCalledTwiceWrong {
    private int free = 4;
    synchronized int free() { return free; } // wrong
    synchronized void take() { free--; } // wrong
    boolean tryTake() {
        if (free() == 0) return false; // wrong
        take(); // wrong
        return true;
    }
    synchronized void give() { free++; } // wrong
    public static void main(String[] args) {
        CarelessServer server = new CarelessServer();
        for (int i = 0; i < 3; i++) new Thread(() -> server.serve()).start();
    }
}

class CarefulServer {
    private final PartCalledTwiceRight pool = new PartCalledTwiceRight();
    void serve() { if (pool.tryTake()) pool.give(); }
}

class PartCalledTwiceRight {
    private int free = 4;
    synchronized boolean tryTake() {
        if (free == 0) return false;
        free--;
        return true;
    }
    synchronized void give() { free++; }
    public static void main(String[] args) {
        CarefulServer server = new CarefulServer();
        for (int i = 0; i < 3; i++) new Thread(() -> server.serve()).start();
    }
}

/** Who is never given a successor calls none. */
class NeverGivenWrong {
    static class Step {
        private final Step next;
        private int done;
        Step(Step next) { this.next = next; }
        synchronized int done() { return done; }
        void run() { done++; if (next != null) next.run(); } // wrong
    }
    public static void main(String[] args) {
        Step last = new Step(null);
        for (int i = 0; i < 2; i++) new Thread(() -> { last.run(); last.done(); }).start();
    }
}

class NeverGivenRight {
    static class Step {
        private final Step next;
        private int done;
        Step(Step next) { this.next = next; }
        synchronized int done() { return done; }
        synchronized void run() { done++; if (next != null) next.run(); }
    }
    public static void main(String[] args) {
        Step last = new Step(null);
        for (int i = 0; i < 2; i++) new Thread(() -> { last.run(); last.done(); }).start();
    }
}

/** A part that may be of a class that guards itself, or not. */
class PartOrPlainWrong {
    static class Store {
        int n;

        int get() {
            return n; // wrong
        }

        void set(int to) {
            n = to; // wrong
        }
    }

    static class Guarding extends Store {
        @Override
        synchronized int get() {
            return n;
        }

        @Override
        synchronized void set(int to) {
            n = to;
        }
    }

    static class Owner {
        private final Store store;

        Owner(boolean plain) {
            if (plain) {
                store = new Store();
            } else {
                store = new Guarding();
            }
        }

        synchronized int get() {
            return store.get();
        }

        synchronized void set(int to) {
            store.set(to);
        }

        void add() {
            set(get() + 1);
        }
    }

    public static void main(String[] args) {
        Owner one = new Owner(args.length == 0);
        for (int i = 0; i < 2; i++) {
            new Thread(() -> one.add()).start();
        }
    }
}

/** A part that takes a lock which guards nothing of it. */
class PartTakesOtherWrong {
    static class Store {
        private int n;

        int get() {
            return n; // wrong
        }

        void set(int to) {
            synchronized (System.out) {
                System.out.println(to);
            }
            n = to; // wrong
        }
    }

    static class Owner {
        private final Store store = new Store();

        synchronized int get() {
            return store.get();
        }

        synchronized void set(int to) {
            store.set(to);
        }

        void add() {
            set(get() + 1);
        }
    }

    public static void main(String[] args) {
        Owner one = new Owner();
        for (int i = 0; i < 2; i++) {
            new Thread(() -> one.add()).start();
        }
    }
}

/** The same with a lock of the library. */
class PartTakesLockWrong {
    private static final java.util.concurrent.locks.ReentrantLock LOG =
        new java.util.concurrent.locks.ReentrantLock();

    static class Store {
        private int n;

        int get() {
            LOG.lock();
            LOG.unlock();
            return n; // wrong
        }

        void set(int to) {
            LOG.lock();
            LOG.unlock();
            n = to; // wrong
        }
    }

    static class Owner {
        private final Store store = new Store();

        synchronized int get() {
            return store.get();
        }

        synchronized void set(int to) {
            store.set(to);
        }

        void add() {
            set(get() + 1);
        }
    }

    public static void main(String[] args) {
        Owner one = new Owner();
        for (int i = 0; i < 2; i++) {
            new Thread(() -> one.add()).start();
        }
    }
}

/** What is owned through four fields. */
class DeepPartWrong {
    static class Cell {
        private int n;
    }

    static class Counter {
        private final Cell cell = new Cell();

        synchronized int get() {
            return cell.n; // wrong
        }

        synchronized void set(int to) {
            cell.n = to; // wrong
        }

        void add() {
            set(get() + 1); // wrong
        }
    }

    static class Metrics {
        private final Counter counter = new Counter();
    }

    static class Server {
        private final Metrics metrics = new Metrics();
    }

    private final Server server = new Server();

    public static void main(String[] args) {
        DeepPartWrong one = new DeepPartWrong();
        for (int i = 0; i < 2; i++) {
            new Thread(() -> one.server.metrics.counter.add()).start();
        }
    }
}

class DeepPartRight {
    static class Cell {
        private int n;
    }

    static class Counter {
        private final Cell cell = new Cell();

        synchronized void add() {
            cell.n++;
        }
    }

    static class Metrics {
        private final Counter counter = new Counter();
    }

    static class Server {
        private final Metrics metrics = new Metrics();
    }

    private final Server server = new Server();

    public static void main(String[] args) {
        DeepPartRight one = new DeepPartRight();
        for (int i = 0; i < 2; i++) {
            new Thread(() -> one.server.metrics.counter.add()).start();
        }
    }
}
