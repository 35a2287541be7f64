/** A counter that two threads increment, with and without its monitor. */
class CountersWrong {
    static class Tally {
        private int hits;

        void hit() {
            hits++; // wrong
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Tally tally = new Tally();
        Thread[] workers = new Thread[4];
        for (int i = 0; i < workers.length; i++) {
            workers[i] = new Thread(() -> {
                for (int j = 0; j < 1000; j++) {
                    tally.hit();
                }
            });
            workers[i].start();
        }
    }
}

class CountersRight {
    static class Tally {
        private int hits;

        synchronized void hit() {
            hits++;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Tally tally = new Tally();
        Thread[] workers = new Thread[4];
        for (int i = 0; i < workers.length; i++) {
            workers[i] = new Thread(() -> {
                for (int j = 0; j < 1000; j++) {
                    tally.hit();
                }
            });
            workers[i].start();
        }
    }
}
