import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.Formattable;
import java.util.Formatter;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.stream.Stream;

/** What shows a list is another object, and so is its monitor. */
class ShownLockWrong {
    private static final List<String> OWN = new ArrayList<>();
    private static final List<String> SHOWN = Collections.unmodifiableList(OWN);
    private static int guests;

    public static void main(String[] args) {
        new Thread(() -> {
            synchronized (OWN) {
                guests++; // wrong
            }
        }).start();
        synchronized (SHOWN) {
            guests++; // wrong
        }
    }
}

class ShownLockRight {
    private static final List<String> OWN = new ArrayList<>();
    private static final List<String> SHOWN = Collections.unmodifiableList(OWN);
    private static int guests;

    public static void main(String[] args) {
        new Thread(() -> {
            synchronized (OWN) {
                guests += SHOWN.size();
            }
        }).start();
        synchronized (OWN) {
            guests++;
        }
    }
}

/** A function waits for a condition, and frees the lock. */
class AwaitByReferenceWrong {
    private static final ReentrantLock LOCK = new ReentrantLock();
    private static final Condition CHANGED = LOCK.newCondition();
    private static int n;

    static void change() {
        LOCK.lock();
        try {
            int old = n; // wrong
            Runnable pause = CHANGED::awaitUninterruptibly;
            pause.run();
            n = old + 1; // wrong
        } finally {
            LOCK.unlock();
        }
    }

    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) {
            new Thread(AwaitByReferenceWrong::change).start();
        }
        LOCK.lock();
        CHANGED.signalAll();
        LOCK.unlock();
    }
}

/** A function frees the side of a lock. */
class SideByReferenceWrong {
    private static final ReentrantReadWriteLock LOCK = new ReentrantReadWriteLock();
    private static int n;

    static void change() {
        ReentrantReadWriteLock.WriteLock side = LOCK.writeLock();
        side.lock();
        Runnable frees = side::unlock;
        frees.run();
        n++; // wrong
    }

    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) {
            new Thread(SideByReferenceWrong::change).start();
        }
    }
}

/** Who frees a lock that it does not hold fails. */
class FreedUnheldWrong {
    private static final ReentrantLock LOCK = new ReentrantLock();
    private static int failures;

    static void free() {
        try {
            LOCK.unlock();
        } catch (IllegalMonitorStateException notMine) {
            failures++; // wrong
        }
    }

    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) {
            new Thread(FreedUnheldWrong::free).start();
        }
    }
}

/** What a constructor of the library makes for a map is shared by all who get it. */
class MadeForMapWrong {
    private static final Map<String, StringBuilder> TEXTS = new ConcurrentHashMap<>();

    static void add() {
        TEXTS.computeIfAbsent("a", StringBuilder::new).append("b"); // wrong
    }

    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) {
            new Thread(MadeForMapWrong::add).start();
        }
    }
}

/** The text that all objects have is made of their hash. */
class HashInTextWrong {
    private int n;

    @Override
    public int hashCode() {
        return n; // wrong
    }

    synchronized void add() {
        n++; // wrong
    }

    public static void main(String[] args) {
        HashInTextWrong one = new HashInTextWrong();
        new Thread(one::add).start();
        System.out.println(one);
    }
}

class HashByCallWrong {
    private int n;

    @Override
    public int hashCode() {
        return n; // wrong
    }

    synchronized void add() {
        n++; // wrong
    }

    public static void main(String[] args) {
        HashByCallWrong one = new HashByCallWrong();
        new Thread(one::add).start();
        one.toString();
    }
}

class HashInTextRight {
    private int n;

    @Override
    public synchronized int hashCode() {
        return n;
    }

    synchronized void add() {
        n++;
    }

    public static void main(String[] args) {
        HashInTextRight one = new HashInTextRight();
        new Thread(one::add).start();
        System.out.println(one);
    }
}

/** Formats call what they show. */
class FormattedWrong {
    private int shown;

    @Override
    public String toString() {
        shown++; // wrong
        return "";
    }

    public static void main(String[] args) {
        FormattedWrong one = new FormattedWrong();
        new Thread(() -> "%s".formatted(one)).start();
        "%s".formatted(one);
    }
}

class FormattableWrong implements Formattable {
    private int shown;

    @Override
    public void formatTo(Formatter out, int flags, int width, int precision) {
        shown++; // wrong
    }

    public static void main(String[] args) {
        FormattableWrong one = new FormattableWrong();
        new Thread(() -> String.format("%s", one)).start();
        System.out.printf("%s", one);
    }
}

/** A text writes its bytes where it is told. */
class BytesOfTextWrong {
    private static final byte[] BYTES = new byte[8];

    @SuppressWarnings("deprecation")
    public static void main(String[] args) {
        new Thread(() -> "abc".getBytes(0, 2, BYTES, 0)).start(); // wrong
        System.out.println(BYTES[0]); // wrong
    }
}

/** So does chance. */
class RandomBytesWrong {
    private static final byte[] BYTES = new byte[8];
    private static final Random CHANCE = new Random();

    public static void main(String[] args) {
        new Thread(() -> CHANCE.nextBytes(BYTES)).start(); // wrong
        System.out.println(BYTES[0]); // wrong
    }
}

/** A number is read from a sequence of the program. */
class ParsedSequenceWrong implements CharSequence {
    private int asked;

    @Override
    public int length() {
        asked++; // wrong
        return 1;
    }

    @Override
    public char charAt(int at) {
        return '1';
    }

    @Override
    public CharSequence subSequence(int from, int to) {
        return this;
    }

    public static void main(String[] args) {
        ParsedSequenceWrong digits = new ParsedSequenceWrong();
        new Thread(() -> Integer.parseInt(digits, 0, 1, 10)).start();
        Integer.parseInt(digits, 0, 1, 10);
    }
}

/** Queues with an order compare what is put into them. */
class OrderedQueueWrong implements Comparable<OrderedQueueWrong> {
    private int compared;

    @Override
    public int compareTo(OrderedQueueWrong other) {
        compared++; // wrong
        return 0;
    }

    static void queue(OrderedQueueWrong one) {
        PriorityQueue<OrderedQueueWrong> all = new PriorityQueue<>();
        all.offer(one);
        all.offer(new OrderedQueueWrong());
    }

    public static void main(String[] args) {
        OrderedQueueWrong one = new OrderedQueueWrong();
        new Thread(() -> queue(one)).start();
        queue(one);
    }
}

/** Who copies into a set asks for hashes. */
class HashedCopyWrong {
    private static int asked;

    @Override
    public int hashCode() {
        asked++; // wrong
        return 0;
    }

    static void copy() {
        List<HashedCopyWrong> all = new ArrayList<>();
        all.add(new HashedCopyWrong());
        new HashSet<>(all);
    }

    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) {
            new Thread(HashedCopyWrong::copy).start();
        }
    }
}

/** The text of a reference is that of what it holds. */
class ReferenceShownWrong {
    private int shown;

    @Override
    public String toString() {
        shown++; // wrong
        return "";
    }

    public static void main(String[] args) {
        AtomicReference<ReferenceShownWrong> one = new AtomicReference<>(new ReferenceShownWrong());
        new Thread(() -> one.toString()).start();
        one.toString();
    }
}

/** What a task throws is the cause of what is caught. */
class CauseOfTaskWrong extends Exception {
    private static final CauseOfTaskWrong ONE = new CauseOfTaskWrong();
    private int seen;

    static void note(Object cause) {
        Object own = cause == null ? new CauseOfTaskWrong() : cause;
        ((CauseOfTaskWrong) own).seen++; // wrong
    }

    static void ask(ExecutorService workers) {
        try {
            workers.submit(() -> {
                if (workers != null) {
                    throw ONE;
                }
                return 1;
            }).get();
        } catch (Exception failed) {
            note(failed.getCause());
        }
    }

    public static void main(String[] args) {
        ExecutorService workers = Executors.newFixedThreadPool(2);
        for (int i = 0; i < 2; i++) {
            new Thread(() -> ask(workers)).start();
        }
    }
}

/** A constant is found by its name. */
class NamedConstantWrong {
    interface Counting {
        void count();
    }

    enum Lamp implements Counting {
        RED;

        private int n;

        @Override
        public void count() {
            n++; // wrong
        }
    }

    static class Other implements Counting {
        private int n;

        @Override
        public void count() {
            n++;
        }
    }

    static <X extends Enum<X> & Counting> void count(Class<X> of, boolean other) {
        Counting one = other ? new Other() : Enum.valueOf(of, "RED");
        one.count();
    }

    public static void main(String[] args) {
        System.out.println(Lamp.RED.name());
        for (int i = 0; i < 2; i++) {
            new Thread(() -> count(Lamp.class, false)).start();
        }
    }
}

/** A queue takes what a list holds one after the other. */
class FilledQueueWrong {
    private final LinkedBlockingQueue<String> jobs = new LinkedBlockingQueue<>();

    void fill(List<String> all) {
        jobs.addAll(all); // wrong
    }

    boolean has() {
        return jobs.contains("a");
    }

    public static void main(String[] args) {
        FilledQueueWrong queue = new FilledQueueWrong();
        List<String> all = List.of("a", "b");
        new Thread(() -> queue.fill(all)).start();
        new Thread(queue::has).start();
    }
}

/** Who compares a map in the order of access with another one changes it. */
class ComparedByAccessWrong {
    public static void main(String[] args) {
        LinkedHashMap<String, String> recent = new LinkedHashMap<>(16, .75f, true);
        recent.put("a", "b");
        Map<String, String> other = new HashMap<>(recent);
        for (int i = 0; i < 2; i++) {
            new Thread(() -> other.equals(recent)).start(); // wrong
        }
    }
}

/** A stream goes over its list when it is asked, and that is later. */
class StreamLaterWrong {
    private final List<String> names = new ArrayList<>();

    synchronized void add(String name) {
        names.add(name); // wrong
    }

    synchronized Stream<String> all() {
        return names.stream().filter(one -> !one.isEmpty());
    }

    public static void main(String[] args) {
        StreamLaterWrong guests = new StreamLaterWrong();
        new Thread(() -> guests.add("guest")).start();
        System.out.println(guests.all().count()); // wrong
    }
}

class StreamLaterRight {
    private final List<String> names = new ArrayList<>();

    synchronized void add(String name) {
        names.add(name);
    }

    synchronized long all() {
        return names.stream().filter(one -> !one.isEmpty()).map(one -> one + "!").sorted().count();
    }

    public static void main(String[] args) {
        StreamLaterRight guests = new StreamLaterRight();
        new Thread(() -> guests.add("guest")).start();
        System.out.println(guests.all());
    }
}

/** The functions of a stream are called in the end, when the lock is free. */
class StreamFunctionWrong {
    private final List<String> names = new ArrayList<>(List.of("a", "b"));
    private int asked;

    synchronized Stream<String> all() {
        return names.stream().filter(one -> {
            asked++; // wrong
            return true;
        });
    }

    public static void main(String[] args) {
        StreamFunctionWrong guests = new StreamFunctionWrong();
        for (int i = 0; i < 2; i++) {
            new Thread(() -> guests.all().count()).start();
        }
    }
}

class StreamFunctionRight {
    private final List<String> names = new ArrayList<>(List.of("a", "b"));
    private int asked;

    synchronized long all() {
        return names.stream().filter(one -> {
            asked++;
            return true;
        }).count();
    }

    public static void main(String[] args) {
        StreamFunctionRight guests = new StreamFunctionRight();
        for (int i = 0; i < 2; i++) {
            new Thread(guests::all).start();
        }
    }
}

/** A comparator that is made of functions calls them. */
class ComparatorOfFunctionsWrong {
    private int weight;
    private int asked;

    int weight() {
        asked++; // wrong
        return weight;
    }

    public static void main(String[] args) {
        List<ComparatorOfFunctionsWrong> all =
            List.of(new ComparatorOfFunctionsWrong(), new ComparatorOfFunctionsWrong());
        Comparator<ComparatorOfFunctionsWrong> order =
            Comparator.comparingInt(ComparatorOfFunctionsWrong::weight).reversed();
        for (int i = 0; i < 2; i++) {
            new Thread(() -> new ArrayList<>(all).sort(order)).start();
        }
    }
}

/** A copy that nothing changes is read by everybody. */
class FixedCopyRight {
    private final List<String> names = new ArrayList<>();
    private volatile List<String> shown = List.of();

    synchronized void add(String name) {
        names.add(name);
        shown = List.copyOf(names);
    }

    public static void main(String[] args) {
        FixedCopyRight guests = new FixedCopyRight();
        for (int i = 0; i < 2; i++) {
            new Thread(() -> guests.add("guest")).start();
        }
        for (String one : guests.shown) {
            System.out.println(one);
        }
    }
}

/** What shows a list changes with it. */
class FixedCopyWrong {
    private final List<String> names = new ArrayList<>();
    private volatile List<String> shown = List.of();

    synchronized void add(String name) {
        names.add(name); // wrong
        shown = Collections.unmodifiableList(names);
    }

    public static void main(String[] args) {
        FixedCopyWrong guests = new FixedCopyWrong();
        for (int i = 0; i < 2; i++) {
            new Thread(() -> guests.add("guest")).start();
        }
        for (String one : guests.shown) { // wrong
            System.out.println(one);
        }
    }
}

/** What is held may be there or not, and is what it is. */
class HeldOrNotWrong {
    private int n;

    static Optional<HeldOrNotWrong> first(List<HeldOrNotWrong> all) {
        return all.stream().filter(one -> one != null).findFirst();
    }

    public static void main(String[] args) {
        List<HeldOrNotWrong> all = List.of(new HeldOrNotWrong());
        for (int i = 0; i < 2; i++) {
            new Thread(() -> first(all).orElseThrow().n++).start(); // wrong
        }
    }
}

class HeldOrNotRight {
    private int n;

    static Optional<HeldOrNotRight> first(List<HeldOrNotRight> all) {
        return all.stream().filter(one -> one != null).findFirst();
    }

    synchronized void add() {
        n++;
    }

    public static void main(String[] args) {
        List<HeldOrNotRight> all = List.of(new HeldOrNotRight());
        for (int i = 0; i < 2; i++) {
            new Thread(() -> first(all).orElseThrow().add()).start();
        }
    }
}
