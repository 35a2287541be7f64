/** Arrays that belong to one object, and arrays that only seem to. */
class ShallowCopyWrong {
    static class C {
        int[] a = new int[1];
        void share(C other) { this.a = other.a; }
        synchronized void add() { a[0]++; } // wrong
    }
    public static void main(String[] args) {
        C one = new C();
        C two = new C();
        two.share(one);
        new Thread(() -> one.add()).start();
        new Thread(() -> two.add()).start();
    }
}

class SetTwiceWrong {
    static class C {
        int[] a;
        void set(int[] a) { this.a = a; }
        synchronized void add() { a[0]++; } // wrong
    }
    static void both(C one, C two) { int[] t = new int[1]; one.set(t); two.set(t); }
    public static void main(String[] args) {
        C[] all = { new C(), new C() };
        both(all[0], all[1]);
        for (C c : all) new Thread(() -> c.add()).start();
    }
}

class ClonedWrong {
    static class C implements Cloneable {
        int[] a = new int[1];
        synchronized void add() { a[0]++; } // wrong
        C copy() { try { return (C) super.clone(); } catch (CloneNotSupportedException e) { return null; } }
    }
    public static void main(String[] args) {
        C one = new C();
        C two = one.copy();
        new Thread(() -> one.add()).start();
        new Thread(() -> two.add()).start();
    }
}

class OwnedRight {
    static class C {
        private int[] a = new int[1];
        private int size;
        synchronized void add(int v) {
            if (size == a.length) { int[] b = new int[2 * size]; System.arraycopy(a, 0, b, 0, size); a = b; }
            a[size++] = v;
        }
    }
    public static void main(String[] args) {
        C[] all = new C[3];
        for (int i = 0; i < 3; i++) all[i] = new C();
        for (int i = 0; i < 9; i++) { C c = all[i % 3]; new Thread(() -> c.add(1)).start(); }
    }
}

class OwnedWrong {
    static class C {
        private int[] a = new int[1];
        synchronized void add(int v) { a[0] += v; }
        int get() { return a[0]; } // wrong
    }
    public static void main(String[] args) {
        C[] all = new C[3];
        for (int i = 0; i < 3; i++) all[i] = new C();
        for (int i = 0; i < 9; i++) { C c = all[i % 3]; new Thread(() -> { c.add(1); c.get(); }).start(); }
    }
}

class OwnedListRight {
    static class Log {
        private final java.util.List<String> lines = new java.util.ArrayList<>();
        synchronized void add(String line) { lines.add(line); }
        synchronized int size() { return lines.size(); }
    }
    public static void main(String[] args) {
        Log log = new Log();
        for (int i = 0; i < 2; i++) new Thread(() -> { log.add("x"); log.size(); }).start();
    }
}

class OwnedListWrong {
    static class Log {
        private final java.util.List<String> lines = new java.util.ArrayList<>();
        synchronized void add(String line) { lines.add(line); }
        int size() { return lines.size(); } // wrong
    }
    public static void main(String[] args) {
        Log log = new Log();
        for (int i = 0; i < 2; i++) new Thread(() -> { log.add("x"); log.size(); }).start();
    }
}

class TwoLocksOfOneFieldWrong {
    static class C extends Thread {
        Object lock;
        static int shared;
        int own;
        C peer;
        C() { lock = new Object(); start(); lock = new Object(); }
        public void run() { synchronized (lock) { own++; } } // wrong
        void more() { synchronized (lock) { own++; } }
    }
    public static void main(String[] args) {
        for (int i = 0; i < 3; i++) new C().more();
    }
}

class GivenLockRight {
    static class Box {
        private final Object mutex;
        private int n;
        Box(Object mutex) { this.mutex = mutex; }
        void add() { synchronized (mutex) { n++; } }
    }
    public static void main(String[] args) {
        Box[] boxes = new Box[2];
        for (int i = 0; i < 2; i++) boxes[i] = new Box(new Object());
        for (int i = 0; i < 6; i++) { Box box = boxes[i % 2]; new Thread(() -> box.add()).start(); }
    }
}
