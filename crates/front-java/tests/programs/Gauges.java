/** A gauge that is read under its cell and written under its panel. */
class GaugesWrong {
    static class Gauge {
        int level;
    }

    static class Cell extends Thread {
        private final Gauge gauge;
        private final Object panel;

        Cell(Gauge gauge, Object panel) {
            this.gauge = gauge;
            this.panel = panel;
        }

        @Override
        public void run() {
            synchronized (panel) {
                gauge.level = gauge.level + 1; // wrong
            }
        }
    }

    static class Panel extends Thread {
        private final Gauge gauge;

        Panel(Gauge gauge) {
            this.gauge = gauge;
        }

        @Override
        public void run() {
            synchronized (gauge) {
                gauge.level = 0;
            }
        }
    }

    public static void main(String[] args) {
        Gauge gauge = new Gauge();
        Object panel = new Object();
        new Cell(gauge, panel).start();
        new Panel(gauge).start();
    }
}

class GaugesRight {
    static class Gauge {
        int level;
    }

    static class Cell extends Thread {
        private final Gauge gauge;
        private final Object panel;

        Cell(Gauge gauge, Object panel) {
            this.gauge = gauge;
            this.panel = panel;
        }

        @Override
        public void run() {
            synchronized (panel) {
                gauge.level = gauge.level + 1;
            }
        }
    }

    static class Panel extends Thread {
        private final Gauge gauge;
        private final Object lock;

        Panel(Gauge gauge, Object lock) {
            this.gauge = gauge;
            this.lock = lock;
        }

        @Override
        public void run() {
            synchronized (lock) {
                gauge.level = 0;
            }
        }
    }

    public static void main(String[] args) {
        Gauge gauge = new Gauge();
        Object panel = new Object();
        new Cell(gauge, panel).start();
        new Panel(gauge, panel).start();
    }
}
