import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import java.util.function.*;

/** What code outside does that is easily overlooked: each was called safe once. */
class TextOfMapWrong {
    static final Map<Integer, Integer> map = new HashMap<>();
    static int thrown;
    public static void main(String[] args) throws Exception {
        Thread a = new Thread(() -> { for (int i = 0; i < 200000; i++) synchronized (map) { map.put(i % 999, i); map.remove((i + 7) % 999); } });
        Thread b = new Thread(() -> { for (int i = 0; i < 20000; i++) try { map.toString(); } catch (ConcurrentModificationException e) { System.out.println("CME"); return; } }); // wrong
        a.start(); b.start();
    }
}

class TextOfMapRight {
    static final Map<Integer, Integer> map = new HashMap<>();
    public static void main(String[] args) {
        new Thread(() -> { synchronized (map) { map.put(1, 1); } }).start();
        new Thread(() -> { synchronized (map) { map.toString(); } }).start();
    }
}

class SharedIteratorWrong {
    static class Hits { int n; }
    public static void main(String[] args) throws Exception {
        List<Integer> list = new ArrayList<>();
        for (int i = 0; i < 1000000; i++) list.add(i);
        Iterator<Integer> it = list.iterator();
        for (int k = 0; k < 2; k++) new Thread(() -> { int m = 0; try { while (it.hasNext()) { it.next(); m++; } } catch (RuntimeException e) { } System.out.println(m); }).start(); // wrong
    }
}

class SharedIteratorRight {
    static final List<Integer> list = new ArrayList<>();
    public static void main(String[] args) {
        list.add(1);
        for (int k = 0; k < 2; k++) new Thread(() -> { Iterator<Integer> it = list.iterator(); while (it.hasNext()) it.next(); }).start();
    }
}

class AccessOrderWrong {
    public static void main(String[] args) throws Exception {
        Map<Integer, Integer> map = new LinkedHashMap<>(16, 0.75f, true);
        for (int i = 0; i < 100; i++) map.put(i, i);
        for (int k = 0; k < 2; k++) new Thread(() -> { for (int i = 0; i < 3000000; i++) map.get(i % 100); int c = 0; try { for (Integer x : map.values()) c++; } catch (RuntimeException e) { System.out.println(e); } System.out.println(c); }).start(); // wrong
    }
}

class AccessOrderRight {
    public static void main(String[] args) {
        Map<Integer, Integer> map = new LinkedHashMap<>();
        map.put(1, 1);
        for (int k = 0; k < 2; k++) new Thread(() -> map.get(1)).start();
    }
}

class WeakMapWrong {
    public static void main(String[] args) throws Exception {
        Map<Object, Integer> map = new WeakHashMap<>();
        for (int i = 0; i < 100; i++) map.put(new Object(), i);
        for (int k = 0; k < 2; k++) new Thread(() -> { for (int i = 0; i < 1000; i++) map.get("a"); }).start(); // wrong
    }
}

class WeakMapRight {
    static final Map<String, Integer> map = new TreeMap<>();
    public static void main(String[] args) {
        map.put("a", 1);
        for (int k = 0; k < 2; k++) new Thread(() -> map.get("a")).start();
    }
}

class ClearedHalfWrong {
    static class Box {
        final ConcurrentHashMap<Integer, Integer> map = new ConcurrentHashMap<>();
        void drop() { map.clear(); } // wrong
        boolean has(int k) { return map.size() == 1; }
    }
    public static void main(String[] args) throws Exception {
        Box box = new Box();
        box.map.put(1, 1); box.map.put(2, 2);
        new Thread(() -> box.drop()).start();
        new Thread(() -> box.has(1)).start();
    }
}

class SequenceCastWrong {
    public static void main(String[] args) throws Exception {
        StringBuilder b = new StringBuilder();
        Object o = b;
        new Thread(() -> { for (int i = 0; i < 100000; i++) synchronized (b) { b.append("x"); } }).start();
        new Thread(() -> { CharSequence s = (CharSequence) o; int n = 0; for (int i = 0; i < 100; i++) n += s.length(); }).start(); // wrong
    }
}

class SequenceCastRight {
    static final StringBuilder b = new StringBuilder();
    static final Object o = b;
    public static void main(String[] args) {
        new Thread(() -> { synchronized (b) { b.append("x"); } }).start();
        new Thread(() -> { synchronized (b) { CharSequence s = (CharSequence) o; s.length(); } }).start();
    }
}

class MessageSupplierWrong {
    static int n;
    public static void main(String[] args) throws Exception {
        for (int k = 0; k < 2; k++) new Thread(() -> { for (int i = 0; i < 100000; i++) try { Objects.requireNonNull(null, () -> { n++; return ""; }); } catch (NullPointerException e) { } }).start(); // wrong
    }
}

class ArraysEqualWrong {
    static int n;
    static class Key { public boolean equals(Object o) { n++; return true; } public int hashCode() { return 1; } } // wrong
    public static void main(String[] args) throws Exception {
        for (int k = 0; k < 2; k++) new Thread(() -> { Key[] a = { new Key() }, b = { new Key() }; Arrays.equals(a, b); }).start();
    }
}

class JoinedTextWrong {
    static int n;
    static class Names implements Iterable<String> { public Iterator<String> iterator() { n++; return List.of("a").iterator(); } } // wrong
    public static void main(String[] args) throws Exception {
        for (int k = 0; k < 2; k++) new Thread(() -> { String.join(",", new Names()); }).start();
    }
}

class CopiedCollectionWrong {
    static int n;
    static class Names extends AbstractList<String> { public String get(int i) { n++; return ""; } public int size() { return 1; } } // wrong
    public static void main(String[] args) throws Exception {
        for (int k = 0; k < 2; k++) new Thread(() -> { new ArrayList<>(new Names()); }).start();
    }
}

class AppendedSequenceWrong {
    static int n;
    static class Text implements CharSequence { public int length() { return 1; } public char charAt(int i) { n++; return 'a'; } public CharSequence subSequence(int a, int b) { return this; } public String toString() { return ""; } } // wrong
    public static void main(String[] args) throws Exception {
        for (int k = 0; k < 2; k++) new Thread(() -> { new StringBuilder().append(new Text()); }).start();
    }
}

class BuilderOfBuilderWrong {
    public static void main(String[] args) throws Exception {
        StringBuilder b = new StringBuilder();
        new Thread(() -> { for (int i = 0; i < 100000; i++) synchronized (b) { b.append("x"); } }).start();
        new Thread(() -> { new StringBuilder(b); }).start(); // wrong
    }
}

class BuilderOfBuilderRight {
    static final StringBuilder b = new StringBuilder();
    public static void main(String[] args) {
        new Thread(() -> { synchronized (b) { b.append("x"); } }).start();
        new Thread(() -> { synchronized (b) { new StringBuilder(b); } }).start();
    }
}

class ThreadInThreadWrong {
    static int n;
    public static void main(String[] args) throws Exception {
        Runnable r = () -> { for (int i = 0; i < 1000000; i++) n++; }; // wrong
        Thread a = new Thread(new Thread(r)), b = new Thread(new Thread(r));
        a.start(); b.start(); a.join(); b.join();
        System.out.println(n);
    }
}

class ThreadInThreadRight {
    static int n;
    static final Object lock = new Object();
    public static void main(String[] args) {
        Runnable r = () -> { synchronized (lock) { n++; } };
        new Thread(new Thread(r)).start();
        new Thread(new Thread(r)).start();
    }
}

class FormatterWrong {
    public static void main(String[] args) throws Exception {
        StringBuilder b = new StringBuilder();
        for (int k = 0; k < 2; k++) new Thread(() -> { Formatter f = new Formatter(b); for (int i = 0; i < 10000; i++) f.format("%d", 1); System.out.println(b.length()); }).start(); // wrong
    }
}

class FailingInitialiserWrong {
    static int n;
    static class Broken { static int x = 1 / (FailingInitialiserWrong.zero()); }
    static int zero() { return 0; }
    public static void main(String[] args) throws Exception {
        for (int k = 0; k < 2; k++) new Thread(() -> { for (int i = 0; i < 100000; i++) try { int y = Broken.x; } catch (Throwable e) { n++; } }).start(); // wrong
    }
}

class FailingInitialiserRight {
    static int n;
    static class Broken { static int x = 1 / FailingInitialiserWrong.zero(); }
    public static void main(String[] args) {
        for (int k = 0; k < 2; k++) new Thread(() -> { try { int y = Broken.x; } catch (Throwable e) { synchronized (Broken.class) { n++; } } }).start();
    }
}

class FailingCallWrong {
    static int n;
    static class Broken { static int x = 1 / (FailingInitialiserWrong.zero()); static void go() { } }
    public static void main(String[] args) throws Exception {
        for (int k = 0; k < 2; k++) new Thread(() -> { for (int i = 0; i < 100000; i++) try { Broken.go(); } catch (Throwable e) { n++; } }).start(); // wrong
    }
}

class DefaultCompareWrong {
    static int n;
    interface Ranked extends Comparable<Ranked> { default int compareTo(Ranked o) { n++; return 1; } } // wrong
    static class R implements Ranked { }
    public static void main(String[] args) throws Exception {
        for (int k = 0; k < 2; k++) new Thread(() -> { Set<R> s = new TreeSet<>(); s.add(new R()); s.add(new R()); }).start();
    }
}

class DefaultRunWrong {
    static int n;
    interface Job extends Runnable { default void run() { n++; } } // wrong
    static class J implements Job { }
    public static void main(String[] args) throws Exception {
        for (int k = 0; k < 2; k++) new Thread(() -> { Thread t = new Thread(new J()); t.run(); }).start();
    }
}

class InheritedTextWrong {
    static int n;
    static class Names extends AbstractList<String> { public String get(int i) { n++; return ""; } public int size() { return 1; } } // wrong
    public static void main(String[] args) throws Exception {
        for (int k = 0; k < 2; k++) new Thread(() -> { System.out.println(new Names()); }).start();
    }
}

class MessageWrong {
    static int n;
    static class E extends RuntimeException { public String getMessage() { n++; return ""; } } // wrong
    public static void main(String[] args) throws Exception {
        for (int k = 0; k < 2; k++) new Thread(() -> { String s = "" + new E(); }).start();
    }
}

class DefaultValueWrong {
    static class C { int n; }
    public static void main(String[] args) throws Exception {
        Map<String, C> map = new HashMap<>();
        map.put("a", new C());
        C other = new C();
        for (int k = 0; k < 2; k++) new Thread(() -> { for (int i = 0; i < 100000; i++) { C c = map.getOrDefault("b", other); c.n++; } }).start(); // wrong
    }
}

class DefaultValueRight {
    static class C { private int n; synchronized void add() { n++; } }
    public static void main(String[] args) {
        Map<String, C> map = new HashMap<>();
        map.put("a", new C());
        C other = new C();
        for (int k = 0; k < 2; k++) new Thread(() -> map.getOrDefault("b", other).add()).start();
    }
}

class TraceOfFailureWrong {
    public static void main(String[] args) throws Exception {
        java.io.StringWriter w = new java.io.StringWriter();
        java.io.PrintWriter p = new java.io.PrintWriter(w);
        new Thread(() -> { for (int i = 0; i < 100; i++) synchronized (p) { p.println("a"); } }).start();
        new Thread(() -> { new RuntimeException().printStackTrace(p); }).start(); // wrong
    }
}

class TimedWaitWrong {
    static class C {
        int n;
        synchronized void slow() { int m = n; try { TimeUnit.MILLISECONDS.timedWait(this, 200); } catch (InterruptedException e) { } n = m + 1; } // wrong
        synchronized void add() { n += 100; }
    }
    public static void main(String[] args) throws Exception {
        C c = new C();
        Thread a = new Thread(() -> c.slow()), b = new Thread(() -> c.add());
        a.start(); Thread.sleep(50); b.start(); a.join(); b.join();
        System.out.println(c.n);
    }
}

class UncaughtWrong {
    static int n;
    static class E extends RuntimeException { public String toString() { n++; return ""; } } // wrong
    public static void main(String[] args) throws Exception {
        for (int k = 0; k < 2; k++) new Thread(() -> { throw new E(); }).start();
    }
}

class OverloadedFunctionWrong {
    static int n;
    interface F { void go(); default void go(int times) { n++; go(); } } // wrong
    public static void main(String[] args) throws Exception {
        F f = () -> { };
        for (int k = 0; k < 2; k++) new Thread(() -> f.go(1)).start();
    }
}

class OverloadedFunctionRight {
    static int n;
    interface F { void go(); default void go(int times) { synchronized (F.class) { n++; } go(); } }
    public static void main(String[] args) {
        F f = () -> { };
        for (int k = 0; k < 2; k++) new Thread(() -> f.go(1)).start();
    }
}

class FinalizedReferenceWrong {
    static int live;
    static class Cell { protected void finalize() { live--; } }
    public static void main(String[] args) throws Exception {
        Supplier<Cell> s = Cell::new;
        for (int k = 0; k < 1000; k++) { s.get(); live++; } // wrong
    }
}

class LatchWaitWrong {
    static class C {
        int n;
        final CountDownLatch latch = new CountDownLatch(1);
        void slow() { synchronized (latch) { int m = n; try { latch.wait(200); } catch (InterruptedException e) { } n = m + 1; } } // wrong
        void add() { synchronized (latch) { n += 100; } }
    }
    public static void main(String[] args) throws Exception {
        C c = new C();
        Thread a = new Thread(() -> c.slow()), b = new Thread(() -> c.add());
        a.start(); Thread.sleep(50); b.start(); a.join(); b.join();
        System.out.println(c.n);
    }
}

class LatchWaitRight {
    static class C {
        private int n;
        private final CountDownLatch latch = new CountDownLatch(1);
        void slow() throws InterruptedException { synchronized (latch) { latch.wait(200); n++; } }
        void add() { synchronized (latch) { n += 100; } }
    }
    public static void main(String[] args) {
        C c = new C();
        new Thread(() -> { try { c.slow(); } catch (InterruptedException e) { } }).start();
        new Thread(() -> c.add()).start();
    }
}

class EnumWaitWrong {
    enum E { ONE }
    static int n;
    static void slow() { synchronized (E.ONE) { int m = n; try { E.ONE.wait(200); } catch (InterruptedException e) { } n = m + 1; } } // wrong
    static void add() { synchronized (E.ONE) { n += 100; } }
    public static void main(String[] args) throws Exception {
        Thread a = new Thread(() -> slow()), b = new Thread(() -> add());
        a.start(); Thread.sleep(50); b.start(); a.join(); b.join();
        System.out.println(n);
    }
}

class CauseWrong {
    static int n;
    static class E extends Exception { public String toString() { n++; return ""; } } // wrong
    public static void main(String[] args) throws Exception {
        for (int k = 0; k < 2; k++) new Thread(() -> { new RuntimeException(new E()); }).start();
    }
}

class ClassWinsWrong {
    static int n;
    interface Job extends Runnable { default void run() { } }
    static class T extends Thread implements Job { T(Runnable r) { super(r); } }
    public static void main(String[] args) throws Exception {
        Runnable r = () -> { for (int i = 0; i < 1000000; i++) n++; }; // wrong
        Thread a = new T(r), b = new T(r);
        a.start(); b.start(); a.join(); b.join();
        System.out.println(n);
    }
}

class ClassWinsRight {
    static int n;
    interface Job extends Runnable { default void run() { n++; } }
    static class T extends Thread implements Job { T(Runnable r) { super(r); } }
    public static void main(String[] args) {
        Runnable r = () -> { synchronized (T.class) { n++; } };
        new T(r).start();
        new T(r).start();
    }
}

class TreeComparatorWrong {
    static int n;
    public static void main(String[] args) throws Exception {
        for (int k = 0; k < 2; k++) new Thread(() -> { Map<String, String> s = new TreeMap<>((x, y) -> { n++; return 0; }); s.put("a", "b"); s.get("a"); }).start(); // wrong
    }
}

class EntryOfWrong {
    static class C { int n; }
    public static void main(String[] args) throws Exception {
        C c = new C();
        Map.Entry<String, C> e = new AbstractMap.SimpleEntry<>("a", c);
        for (int k = 0; k < 2; k++) new Thread(() -> e.getValue().n++).start(); // wrong
    }
}

class ThenPausesWrong {
    static class C {
        private int n;
        private synchronized int get() { return n; } // wrong
        private synchronized void set(int v) { n = v; } // wrong
        void add() throws InterruptedException { int v = get(); set(v + 1); Thread.sleep(1); }
    }
    public static void main(String[] args) {
        C c = new C();
        for (int k = 0; k < 2; k++) new Thread(() -> { try { c.add(); } catch (InterruptedException e) { } }).start();
    }
}

class ThenPausesRight {
    static class C {
        private int n;
        private synchronized void more() { n++; }
        void add() throws InterruptedException { more(); Thread.sleep(1); more(); }
    }
    public static void main(String[] args) {
        C c = new C();
        for (int k = 0; k < 2; k++) new Thread(() -> { try { c.add(); } catch (InterruptedException e) { } }).start();
    }
}

class LimitWrong {
    static final AtomicInteger n = new AtomicInteger();
    public static void main(String[] args) {
        for (int k = 0; k < 2; k++) new Thread(() -> { if (n.get() < 1) n.incrementAndGet(); }).start(); // wrong
    }
}

class LimitRight {
    static final AtomicInteger n = new AtomicInteger();
    public static void main(String[] args) {
        for (int k = 0; k < 2; k++) new Thread(() -> {
            int v = n.get();
            while (v < 1 && !n.compareAndSet(v, v + 1)) v = n.get();
            n.incrementAndGet();
        }).start();
    }
}

class RecursionWrong {
    static int n;
    static void down(int k) { if (k > 0) { down(k - 1); n++; } } // wrong
    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) new Thread(() -> down(5)).start();
    }
}

class RecursionRight {
    static int n;
    private static void down(int k) { if (k > 0) { down(k - 1); more(); } }
    private static synchronized void more() { n++; }
    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) new Thread(() -> { down(1); }).start();
    }
}
