/** What is executed at most once, and what only looks like it. */
class RetriedWrong {
    static class Box { int n; synchronized void add() { n++; } }
    static class Worker extends Thread {
        static int total;
        public void run() { synchronized (this) { total++; } } // wrong
    }
    static void make() throws Exception {
        new Worker().start();
        if (Math.random() > 2) throw new Exception();
    }
    public static void main(String[] args) throws Exception {
        try { make(); } catch (Exception e) { make(); }
    }
}

class LoopedByHandlerWrong {
    static class Worker extends Thread {
        static int total;
        public void run() { synchronized (this) { total++; } } // wrong
    }
    static void risky() { if (Math.random() > 0.5) throw new IllegalStateException(); }
    public static void main(String[] args) {
        for (;;) {
            try { new Worker().start(); risky(); return; } catch (IllegalStateException e) { }
        }
    }
}

class LambdaCalledOftenWrong {
    static int total;
    static void begin() {
        Object own = new Object();
        Thread t = new Thread(() -> { synchronized (own) { total++; } }); // wrong
        t.start();
    }
    public static void main(String[] args) {
        java.util.Arrays.asList(1, 2, 3).forEach(i -> begin());
    }
}

class PeriodicWrong {
    static int total;
    static class Tick extends java.util.TimerTask {
        public void run() { synchronized (this) { total++; } } // wrong
    }
    public static void main(String[] args) {
        java.util.Timer timer = new java.util.Timer();
        timer.schedule(new Tick(), 0, 1);
        for (int i = 0; i < 1000; i++) total++; // wrong
    }
}

class EntryCalledWrong {
    static class Worker extends Thread {
        static int total;
        public void run() { total++; } // wrong
    }
    public static void main(String[] args) {
        Worker w = new Worker();
        w.start();
        w.run();
    }
}
