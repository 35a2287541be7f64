/** What starts and joins put in order, and what they do not. */
class JoinBeforeStartWrong {
    static int n;
    static Thread t = new Thread(() -> { for (int i = 0; i < 100; i++) n++; }); // wrong
    public static void main(String[] args) throws Exception {
        Thread k = new Thread(() -> t.start());
        k.start();
        t.join();
        n++;
    }
}

class TimedJoinWrong {
    static int n;
    public static void main(String[] args) throws Exception {
        Thread t = new Thread(() -> { for (int i = 0; i < 100; i++) n++; });
        t.start();
        t.join(10);
        n++; // wrong
    }
}

class OneOfTwoJoinedWrong {
    static int n;
    public static void main(String[] args) throws Exception {
        Thread u = new Thread(() -> { n++; }); // wrong
        Thread v = new Thread(() -> { n += 2; });
        u.start();
        v.start();
        (args.length > 0 ? u : v).join();
        n += 3;
    }
}

class TwoStartersWrong {
    static int n;
    static class B extends Thread { public void run() { for (int i = 0; i < 9; i++) n++; } } // wrong
    static class A extends Thread { public void run() { n++; new B().start(); } }
    public static void main(String[] args) {
        new B().start();
        new A().start();
    }
}

class SiblingsInLoopWrong {
    static int n;
    static class A extends Thread { public void run() { n++; } } // wrong
    static class B extends Thread { public void run() { n += 2; } }
    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 2; i++) {
            A a = new A();
            a.start();
            a.join();
            new B().start();
        }
    }
}

class PeerWrong {
    static class W extends Thread {
        int count;
        W peer;
        public void run() { if (peer != null) peer.count++; } // wrong
    }
    public static void main(String[] args) {
        W one = new W();
        W two = new W();
        one.peer = two;
        one.start();
        two.count++;
        two.start();
    }
}

class StartThenThrowWrong {
    static int n;
    static void begin(int[] a) {
        new Thread(() -> { n++; }).start();
        a[5] = 1;
    }
    public static void main(String[] args) {
        try { begin(new int[1]); } catch (ArrayIndexOutOfBoundsException e) { }
        n++; // wrong
    }
}

class SlotsUsedTwiceWrong {
    static int n;
    static class W extends Thread { public void run() { n++; } } // wrong
    public static void main(String[] args) throws Exception {
        W[] t = new W[2];
        for (int i = 0; i < 4; i++) { t[i % 2] = new W(); t[i % 2].start(); }
        for (int i = 0; i < 2; i++) t[i].join();
        n++;
    }
}

class InterruptedJoinWrong {
    static int n;
    public static void main(String[] args) throws Exception {
        Thread slow = new Thread(() -> { for (int i = 0; i < 1000; i++) n++; });
        java.util.concurrent.ExecutorService pool = java.util.concurrent.Executors.newCachedThreadPool();
        java.util.List<java.util.concurrent.Callable<Integer>> tasks = new java.util.ArrayList<>();
        tasks.add(() -> 1);
        tasks.add(() -> {
            slow.start();
            try { slow.join(); } catch (InterruptedException e) { }
            n++; // wrong
            return 2;
        });
        pool.invokeAny(tasks);
    }
}

class JoinedInOrderRight {
    static int n;
    public static void main(String[] args) throws Exception {
        n = 1;
        Thread t = new Thread(() -> { for (int i = 0; i < 100; i++) n++; });
        t.start();
        t.join();
        n++;
    }
}

class StartThenThrowRight {
    static int n;
    static void begin(int[] a) {
        a[5] = 1;
        n++;
        new Thread(() -> { n++; }).start();
    }
    public static void main(String[] args) {
        begin(new int[7]);
    }
}
