import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Vector;

/** Wrapped lists: whoever goes over one holds its monitor, which its methods take by themselves. */
class WrappedListRight {
    private final List<String> names = Collections.synchronizedList(new ArrayList<>());

    int letters() {
        int all = 0;
        synchronized (names) {
            for (String one : names) {
                all += one.length();
            }
        }
        return all;
    }

    public static void main(String[] args) {
        WrappedListRight guests = new WrappedListRight();
        for (int i = 0; i < 2; i++) {
            new Thread(() -> {
                guests.names.add("guest");
                guests.letters();
            }).start();
        }
    }
}

/** Goes over it without the monitor. */
class WrappedListWrong {
    private final List<String> names = Collections.synchronizedList(new ArrayList<>());

    int letters() {
        int all = 0;
        for (String one : names) { // wrong
            all += one.length();
        }
        return all;
    }

    public static void main(String[] args) {
        WrappedListWrong guests = new WrappedListWrong();
        for (int i = 0; i < 2; i++) {
            new Thread(() -> {
                guests.names.add("guest"); // wrong
                guests.letters();
            }).start();
        }
    }
}

/** What is wrapped is used besides. */
class WrappedUsedWrong {
    public static void main(String[] args) {
        List<String> own = new ArrayList<>();
        List<String> names = Collections.synchronizedList(own);
        new Thread(() -> names.add("guest")).start(); // wrong
        own.add("host"); // wrong
    }
}

/** An iterator removes without the monitor. */
class WrappedRemovedWrong {
    static final List<String> NAMES = Collections.synchronizedList(new ArrayList<>());

    public static void main(String[] args) {
        new Thread(() -> NAMES.add("guest")).start();
        Iterator<String> all = NAMES.iterator();
        while (all.hasNext()) { // wrong
            all.next(); // wrong
            all.remove(); // wrong
        }
    }
}

/** The same under the monitor. */
class WrappedRemovedRight {
    static final List<String> NAMES = Collections.synchronizedList(new ArrayList<>());

    public static void main(String[] args) {
        new Thread(() -> NAMES.add("guest")).start();
        synchronized (NAMES) {
            Iterator<String> all = NAMES.iterator();
            while (all.hasNext()) {
                all.next();
                all.remove();
            }
        }
    }
}

/** A check and an act under the monitor of a wrapped map. */
class WrappedMapRight {
    private final Map<String, Integer> stock = Collections.synchronizedMap(new HashMap<>());

    void book(String what) {
        synchronized (stock) {
            Integer old = stock.get(what);
            stock.put(what, old == null ? 1 : old + 1);
        }
    }

    public static void main(String[] args) {
        WrappedMapRight shop = new WrappedMapRight();
        for (int i = 0; i < 2; i++) {
            new Thread(() -> {
                shop.book("tea");
                shop.stock.remove("tea");
            }).start();
        }
    }
}

/** A check and an act, each under the monitor. */
class WrappedMapWrong {
    private final Map<String, Integer> stock = Collections.synchronizedMap(new HashMap<>());

    void book(String what) {
        Integer old = stock.get(what); // wrong
        stock.put(what, old == null ? 1 : old + 1); // wrong
    }

    public static void main(String[] args) {
        WrappedMapWrong shop = new WrappedMapWrong();
        for (int i = 0; i < 2; i++) {
            new Thread(() -> {
                shop.book("tea");
                shop.stock.remove("tea"); // wrong
            }).start();
        }
    }
}

/** A vector whose monitor is held where it is asked and changed. */
class VectorHeldRight {
    private final Vector<String> names = new Vector<>();

    void once(String name) {
        synchronized (names) {
            if (!names.contains(name)) {
                names.add(name);
            }
        }
    }

    public static void main(String[] args) {
        VectorHeldRight guests = new VectorHeldRight();
        for (int i = 0; i < 2; i++) {
            new Thread(() -> {
                guests.once("guest");
                guests.names.remove("guest");
            }).start();
        }
    }
}

/** The same with another monitor, which the methods of the vector do not take. */
class VectorHeldWrong {
    private final Vector<String> names = new Vector<>();

    synchronized void once(String name) {
        if (!names.contains(name)) { // wrong
            names.add(name); // wrong
        }
    }

    public static void main(String[] args) {
        VectorHeldWrong guests = new VectorHeldWrong();
        for (int i = 0; i < 2; i++) {
            new Thread(() -> {
                guests.once("guest");
                guests.names.remove("guest"); // wrong
            }).start();
        }
    }
}

/** A function that a map calls while its monitor is held writes what others read without it. */
class WrappedFunctionWrong {
    private static final Map<String, String> TEXTS = new HashMap<>();
    private static int misses;

    static String get(String key) {
        synchronized (TEXTS) {
            return TEXTS.computeIfAbsent(key, one -> {
                misses++; // wrong
                return one;
            });
        }
    }

    public static void main(String[] args) {
        new Thread(() -> get("a")).start();
        System.out.println(misses); // wrong
    }
}

class WrappedFunctionRight {
    private static final Map<String, String> TEXTS = new HashMap<>();
    private static int misses;

    static String get(String key) {
        synchronized (TEXTS) {
            return TEXTS.computeIfAbsent(key, one -> {
                misses++;
                return one;
            });
        }
    }

    public static void main(String[] args) {
        new Thread(() -> get("a")).start();
        synchronized (TEXTS) {
            System.out.println(misses);
        }
    }
}

/** Streams go over a wrapped list without its monitor, and so does whoever copies it into a set. */
class WrappedStreamWrong {
    private static final List<String> NAMES = Collections.synchronizedList(new ArrayList<>());

    public static void main(String[] args) {
        new Thread(() -> NAMES.add("guest")).start(); // wrong
        System.out.println(NAMES.stream().count()); // wrong
    }
}

class WrappedCopiedWrong {
    private static final List<String> NAMES = Collections.synchronizedList(new ArrayList<>());

    public static void main(String[] args) {
        new Thread(() -> NAMES.add("guest")).start(); // wrong
        System.out.println(new java.util.HashSet<>(NAMES).size()); // wrong
    }
}

/** A list takes the array of what is wrapped, for which that holds its monitor. */
class WrappedCopiedRight {
    private static final List<String> NAMES = Collections.synchronizedList(new ArrayList<>());

    public static void main(String[] args) {
        new Thread(() -> NAMES.add("guest")).start();
        System.out.println(new ArrayList<>(NAMES).size());
    }
}

/** A wrapped map in the order of access is changed where it is read. */
class WrappedOrderWrong {
    private static final Map<String, String> RECENT =
        Collections.synchronizedMap(new java.util.LinkedHashMap<>(16, .75f, true));

    public static void main(String[] args) {
        new Thread(() -> RECENT.get("a")).start(); // wrong
        for (String one : RECENT.keySet()) { // wrong
            System.out.println(one);
        }
    }
}

/** The functions of a stream are called by its iterator. */
class StreamIteratorWrong {
    private static final List<String> NAMES = new ArrayList<>(List.of("a", "b"));
    private static int asked;

    public static void main(String[] args) {
        Iterator<String> all = NAMES.stream().map(one -> {
            asked++; // wrong
            return one;
        }).iterator();
        new Thread(() -> all.next()).start();
        asked++; // wrong
    }
}
