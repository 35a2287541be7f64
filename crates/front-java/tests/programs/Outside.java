import java.util.*;

/** What code outside the program does. */
class GivenBackWrong {
    static class C { int n; }
    public static void main(String[] args) {
        C c = new C();
        Runnable r = () -> { for (int i = 0; i < 99; i++) Objects.requireNonNull(c).n++; }; // wrong
        new Thread(r).start();
        new Thread(r).start();
    }
}

class ForEachWrong {
    static class C { int n; }
    public static void main(String[] args) {
        List<C> list = new ArrayList<>();
        list.add(new C());
        Runnable r = () -> list.forEach(c -> c.n++); // wrong
        new Thread(r).start();
        new Thread(r).start();
    }
}

class ArrayCopyWrong {
    static class Box {
        private final int[] a = new int[2];
        synchronized void set(int v) { a[0] = v; a[1] = v; }
        void fill(int[] from) { System.arraycopy(from, 0, a, 0, 2); } // wrong
    }
    public static void main(String[] args) {
        Box box = new Box();
        new Thread(() -> box.set(1)).start();
        new Thread(() -> box.fill(new int[2])).start();
    }
}

class EnumSetWrong {
    enum Kind { A, B; int n; }
    public static void main(String[] args) {
        Runnable r = () -> { for (Kind k : EnumSet.allOf(Kind.class)) k.n++; }; // wrong
        new Thread(r).start();
        new Thread(r).start();
    }
}

class ViewWrong {
    static class Book {
        private final Map<String, String> map = new HashMap<>();
        synchronized void put(String k) { map.put(k, k); }
        synchronized Set<String> keys() { return map.keySet(); }
    }
    public static void main(String[] args) {
        Book book = new Book();
        new Thread(() -> book.put("a")).start();
        new Thread(() -> { for (String k : book.keys()) System.out.println(k); }).start(); // wrong
    }
}

class FormatWrong {
    static final java.text.SimpleDateFormat format = new java.text.SimpleDateFormat("yyyy");
    public static void main(String[] args) {
        Runnable r = () -> System.out.println(format.format(new Date())); // wrong
        new Thread(r).start();
        new Thread(r).start();
    }
}

class CaughtWrong {
    static class C { int n; }
    static class Ex extends Exception { final C c; Ex(C c) { this.c = c; } }
    static void fail(C c) throws Ex { throw new Ex(c); }
    public static void main(String[] args) {
        C c = new C();
        Runnable r = () -> { try { fail(c); } catch (Ex e) { e.c.n++; } }; // wrong
        new Thread(r).start();
        new Thread(r).start();
    }
}

class InitialiserWrong {
    static class B { static int n; }
    static class A { static int x; static { for (int i = 0; i < 9; i++) B.n++; } }
    public static void main(String[] args) {
        new Thread(() -> { int y = A.x; }).start();
        for (int i = 0; i < 9; i++) B.n++; // wrong
    }
}

class FinalizerWrong {
    static int live;
    static class C { C() { live++; } protected void finalize() { live--; } } // wrong
    public static void main(String[] args) { for (int i = 0; i < 99; i++) new C(); }
}

class SuperStartWrong {
    static int n;
    static class W extends Thread {
        W(Runnable r) { super(r); }
        public void start() { super.start(); }
        public void run() { super.run(); }
    }
    public static void main(String[] args) {
        Runnable r = () -> { n++; }; // wrong
        new W(r).start();
        new W(r).start();
    }
}

class ParallelStreamWrong {
    static int n;
    public static void main(String[] args) {
        Arrays.asList(1, 2, 3).parallelStream().forEach(i -> { n++; }); // wrong
    }
}

class ThenRunWrong {
    static int n;
    public static void main(String[] args) {
        java.util.concurrent.CompletableFuture<Void> f = java.util.concurrent.CompletableFuture.runAsync(() -> { });
        f.thenRun(() -> { n++; }); // wrong
        n++; // wrong
    }
}

class ComputeWrong {
    static int n;
    public static void main(String[] args) {
        java.util.concurrent.ConcurrentHashMap<Integer, Integer> map = new java.util.concurrent.ConcurrentHashMap<>();
        for (int t = 0; t < 2; t++) {
            int key = t;
            new Thread(() -> map.computeIfAbsent(key, k -> n++)).start(); // wrong
        }
    }
}

class PutAllWrong {
    static class Pair {
        final java.util.concurrent.ConcurrentHashMap<String, String> map = new java.util.concurrent.ConcurrentHashMap<>();
        void both(Map<String, String> two) { map.putAll(two); } // wrong
        boolean look() { return map.containsKey("a") == map.containsKey("b"); }
    }
    public static void main(String[] args) {
        Pair pair = new Pair();
        Map<String, String> two = new HashMap<>();
        new Thread(() -> pair.both(two)).start();
        new Thread(() -> pair.look()).start();
    }
}

class VolatileCountWrong {
    static volatile int n;
    public static void main(String[] args) {
        Runnable r = () -> { for (int i = 0; i < 9; i++) n++; }; // wrong
        new Thread(r).start();
        new Thread(r).start();
    }
}

class VolatileFlagRight {
    static volatile boolean stop;
    public static void main(String[] args) {
        new Thread(() -> { while (!stop) Thread.yield(); }).start();
        stop = true;
    }
}

class AtomicInStepsWrong {
    static final java.util.concurrent.atomic.AtomicInteger n = new java.util.concurrent.atomic.AtomicInteger();
    public static void main(String[] args) {
        Runnable r = () -> n.set(n.get() + 1); // wrong
        new Thread(r).start();
        new Thread(r).start();
    }
}

class AtomicRight {
    static final java.util.concurrent.atomic.AtomicInteger n = new java.util.concurrent.atomic.AtomicInteger();
    public static void main(String[] args) {
        Runnable r = () -> n.incrementAndGet();
        new Thread(r).start();
        new Thread(r).start();
    }
}

class GetClassWrong {
    static int n;
    static class Base { void add() { synchronized (getClass()) { n++; } } } // wrong
    static class One extends Base { }
    static class Two extends Base { }
    public static void main(String[] args) {
        One one = new One();
        Two two = new Two();
        new Thread(() -> one.add()).start();
        new Thread(() -> two.add()).start();
    }
}

/** What holds the same is something else. */
class CopyGivenWrong {
    static class Guests {
        private final java.util.List<String> names = new java.util.ArrayList<>();
        synchronized void add(String name) { names.add(name); } // wrong
        synchronized java.util.List<String> all() { return names; }
    }
    public static void main(String[] args) {
        Guests guests = new Guests();
        new Thread(() -> guests.add("a")).start();
        new Thread(() -> { for (String name : guests.all()) System.out.println(name); }).start(); // wrong
    }
}

class CopyGivenRight {
    static class Guests {
        private final java.util.List<String> names = new java.util.ArrayList<>();
        synchronized void add(String name) { names.add(name); }
        synchronized java.util.List<String> all() { return new java.util.ArrayList<>(names); }
        synchronized java.util.Set<String> some() {
            java.util.Set<String> some = new java.util.TreeSet<>();
            some.addAll(names);
            return some;
        }
    }
    public static void main(String[] args) {
        Guests guests = new Guests();
        new Thread(() -> guests.add("a")).start();
        new Thread(() -> {
            for (String name : guests.all()) System.out.println(name);
            System.out.println(guests.some());
        }).start();
    }
}
