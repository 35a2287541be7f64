/** Programs that an earlier form of the models called safe. */
class NullCalledWrong {
    static class Desk {
        private final Hall hall;
        private final Object lock = new Object();
        private int n;
        Desk(Hall hall) { this.hall = hall; }
        void hit() { synchronized (lock) { n++; hall.seen = n; } }
    }
    static class Hall {
        volatile Desk desk;
        volatile int seen;
        int early;
        void visit() {
            try { desk.hit(); } catch (NullPointerException none) { early++; } // wrong
        }
    }
    public static void main(String[] args) {
        Hall hall = new Hall();
        for (int i = 0; i < 2; i++) new Thread(() -> hall.visit()).start();
        hall.desk = new Desk(hall);
    }
}

class NullCalledRight {
    static class Desk {
        private final Hall hall;
        private final Object lock = new Object();
        private int n;
        Desk(Hall hall) { this.hall = hall; }
        void hit() { synchronized (lock) { n++; } }
    }
    static class Hall {
        volatile Desk desk;
        int early;
        void visit() {
            try { desk.hit(); } catch (NullPointerException none) { synchronized (this) { early++; } }
        }
    }
    public static void main(String[] args) {
        Hall hall = new Hall();
        for (int i = 0; i < 2; i++) new Thread(() -> hall.visit()).start();
        hall.desk = new Desk(hall);
    }
}

class ListMadeAgainWrong {
    static int n;
    public static void main(String[] args) throws InterruptedException {
        java.util.List<Thread> all = null;
        for (int i = 0; i < 6; i++) {
            if (i % 3 == 0) all = new java.util.ArrayList<>();
            Thread one = new Thread(() -> { synchronized (ListMadeAgainWrong.class) { n++; } });
            all.add(one);
            one.start();
        }
        for (Thread one : all) one.join();
        System.out.println(n); // wrong
    }
}

class ListMadeAgainRight {
    static int n;
    public static void main(String[] args) throws InterruptedException {
        java.util.List<Thread> all = new java.util.ArrayList<>();
        for (int i = 0; i < 6; i++) {
            Thread one = new Thread(() -> { synchronized (ListMadeAgainRight.class) { n++; } });
            all.add(one);
            one.start();
        }
        for (Thread one : all) one.join();
        System.out.println(n);
    }
}

class LocalGivenWrong {
    static class Cell { int n; }
    static final ThreadLocal<Cell> own = new ThreadLocal<>();
    static Cell take() {
        Cell cell = own.get();
        if (cell == null) { cell = new Cell(); own.set(cell); }
        cell.n++; // wrong
        return cell;
    }
    public static void main(String[] args) throws Exception {
        java.util.concurrent.ExecutorService pool = java.util.concurrent.Executors.newFixedThreadPool(1);
        java.util.concurrent.Future<Cell> first = pool.submit(() -> take());
        Cell cell = first.get();
        pool.submit(() -> take());
        cell.n++; // wrong
    }
}

class LocalGivenRight {
    static class Cell { int n; }
    static final ThreadLocal<Cell> own = new ThreadLocal<>();
    static int take() {
        Cell cell = own.get();
        if (cell == null) { cell = new Cell(); own.set(cell); }
        return cell.n++;
    }
    public static void main(String[] args) throws Exception {
        java.util.concurrent.ExecutorService pool = java.util.concurrent.Executors.newFixedThreadPool(1);
        java.util.concurrent.Future<Integer> first = pool.submit(() -> take());
        int n = first.get();
        pool.submit(() -> take());
        System.out.println(n);
    }
}

class RecordHoldsWrong {
    record Basket(java.util.List<String> all) {
        Basket() { this(new java.util.ArrayList<>()); }
        Basket(java.util.List<String> all) { this.all = new java.util.ArrayList<>(); }
        synchronized void put(String one) { all.add(one); } // wrong
    }
    public static void main(String[] args) {
        Basket basket = new Basket();
        new Thread(() -> basket.put("a")).start();
        System.out.println(basket.toString()); // wrong
    }
}

class RecordHoldsRight {
    record Basket(java.util.List<String> all) {
        Basket() { this(new java.util.ArrayList<>()); }
        Basket(java.util.List<String> all) { this.all = new java.util.ArrayList<>(); }
        synchronized void put(String one) { all.add(one); }
        synchronized int size() { return all.size(); }
    }
    public static void main(String[] args) {
        Basket basket = new Basket();
        new Thread(() -> basket.put("a")).start();
        System.out.println(basket.size());
    }
}
