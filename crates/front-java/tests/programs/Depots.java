/** Many objects, each with its own lock; the sum is read before or after the threads have ended. */
class DepotsWrong {
    static class Depot {
        private int parcels;

        synchronized void take(int count) {
            parcels -= count;
        }

        void give(int count) {
            parcels += count; // wrong
        }
    }

    static class Van implements Runnable {
        private final Depot from;
        private final Depot to;

        Van(Depot from, Depot to) {
            this.from = from;
            this.to = to;
        }

        @Override
        public void run() {
            from.take(1);
            to.give(1);
        }
    }

    public static void main(String[] args) {
        Depot[] depots = new Depot[3];
        for (int i = 0; i < depots.length; i++) {
            depots[i] = new Depot();
        }
        for (int i = 0; i < depots.length; i++) {
            new Thread(new Van(depots[i], depots[(i + 1) % depots.length])).start();
        }
    }
}

class DepotsRight {
    static class Depot {
        private int parcels;

        synchronized void take(int count) {
            parcels -= count;
        }

        synchronized void give(int count) {
            parcels += count;
        }
    }

    static class Van implements Runnable {
        private final Depot from;
        private final Depot to;

        Van(Depot from, Depot to) {
            this.from = from;
            this.to = to;
        }

        @Override
        public void run() {
            from.take(1);
            to.give(1);
        }
    }

    public static void main(String[] args) {
        Depot[] depots = new Depot[3];
        for (int i = 0; i < depots.length; i++) {
            depots[i] = new Depot();
        }
        for (int i = 0; i < depots.length; i++) {
            new Thread(new Van(depots[i], depots[(i + 1) % depots.length])).start();
        }
    }
}
