import java.util.*;
import java.util.concurrent.*;
import java.util.function.*;

/** Repaired twins of programs about code outside. */
class SupplierRight {
    static class C { int n; synchronized void add() { n++; } }
    static final C only = new C();
    public static void main(String[] args) {
        Supplier<C> supplier = () -> only;
        for (int i = 0; i < 2; i++) new Thread(() -> supplier.get().add()).start();
    }
}

class ValuesRight {
    static class C { int n; synchronized void add() { n++; } }
    public static void main(String[] args) {
        Map<String, C> map = new ConcurrentHashMap<>();
        map.put("a", new C());
        for (int i = 0; i < 2; i++) new Thread(() -> { for (C c : map.values()) c.add(); }).start();
    }
}

class SortedRight {
    static class C implements Comparable<C> {
        int n;
        public synchronized int compareTo(C other) { return n++; }
    }
    public static void main(String[] args) {
        C one = new C();
        C two = new C();
        for (int i = 0; i < 2; i++) new Thread(() -> { C[] own = { one, two }; Arrays.sort(own); }).start();
    }
}

class FunctionFieldRight {
    static int n;
    static synchronized void add() { n++; }
    static class Button { final Runnable action; Button(Runnable action) { this.action = action; } void press() { action.run(); } }
    public static void main(String[] args) {
        Button button = new Button(() -> add());
        for (int i = 0; i < 2; i++) new Thread(() -> button.press()).start();
    }
}

class NestedLambdaRight {
    static int n;
    static synchronized void add() { n++; }
    public static void main(String[] args) {
        Supplier<Runnable> make = () -> () -> add();
        for (int i = 0; i < 2; i++) new Thread(() -> make.get().run()).start();
    }
}

class SubListRight {
    static final List<String> list = new ArrayList<>();
    public static void main(String[] args) {
        new Thread(() -> { synchronized (list) { list.add("a"); } }).start();
        new Thread(() -> { synchronized (list) { System.out.println(list.subList(0, 1).size()); } }).start();
    }
}

class BuilderRight {
    static final StringBuilder text = new StringBuilder();
    static void add(String one) { synchronized (text) { text.append(one).append(", "); } }
    public static void main(String[] args) { for (int i = 0; i < 2; i++) new Thread(() -> add("a")).start(); }
}

class JoinedTextRight {
    static final List<String> list = new ArrayList<>();
    public static void main(String[] args) {
        new Thread(() -> { synchronized (list) { list.add("a"); } }).start();
        new Thread(() -> { synchronized (list) { System.out.println(String.join(", ", list)); } }).start();
    }
}

class CopiedCollectionRight {
    static final List<String> list = new ArrayList<>();
    static List<String> copy() { synchronized (list) { return new ArrayList<>(list); } }
    public static void main(String[] args) {
        new Thread(() -> { synchronized (list) { list.add("a"); } }).start();
        new Thread(() -> { for (String one : copy()) System.out.println(one); }).start();
    }
}

class TimedWaitRight {
    private boolean ready;
    private int n;
    synchronized void slow() throws InterruptedException { while (!ready) wait(100); n++; }
    synchronized void fast() { ready = true; n++; notifyAll(); }
    public static void main(String[] args) {
        TimedWaitRight one = new TimedWaitRight();
        new Thread(() -> { try { one.slow(); } catch (InterruptedException e) { } }).start();
        new Thread(() -> one.fast()).start();
    }
}

class IteratorKeptRight {
    static final List<String> list = new ArrayList<>();
    public static void main(String[] args) {
        new Thread(() -> { synchronized (list) { list.add("a"); } }).start();
        new Thread(() -> { synchronized (list) { Iterator<String> it = list.iterator(); while (it.hasNext()) it.next(); } }).start();
    }
}

class TakenFromQueueRight {
    static class Job { int n; }
    public static void main(String[] args) {
        BlockingQueue<Job> queue = new LinkedBlockingQueue<>();
        new Thread(() -> { Job job = new Job(); job.n = 1; try { queue.put(job); } catch (InterruptedException e) { } }).start();
        new Thread(() -> { try { System.out.println(queue.take().n); } catch (InterruptedException e) { } }).start();
    }
}

class DefaultRunRight {
    static int n;
    static class W extends Thread {
        W(Runnable r) { super(r); }
        public void run() { synchronized (W.class) { super.run(); } }
    }
    public static void main(String[] args) { for (int i = 0; i < 2; i++) new W(() -> { n++; }).start(); }
}

class StripedRight {
    static final Object[] locks = { new Object(), new Object() };
    static int n;
    static void add(int i) { synchronized (StripedRight.class) { synchronized (locks[i % 2]) { n++; } } }
    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) { int k = i; new Thread(() -> add(k)).start(); }
    }
}
