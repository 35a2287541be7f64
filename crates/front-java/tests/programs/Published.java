/** When an object becomes known to others. */
class PublishedThenWrittenWrong {
    static C shared;
    static final Object lock = new Object();
    static class C {
        int n;
        C() { synchronized (lock) { shared = this; } n++; } // wrong
    }
    public static void main(String[] args) {
        new Thread(() -> { C c; synchronized (lock) { c = shared; } if (c != null) c.n++; }).start();
        new C();
    }
}

class FinalAfterEscapeWrong {
    static C shared;
    static class C {
        final int n;
        C() { shared = this; n = 5; } // wrong
    }
    public static void main(String[] args) {
        new Thread(() -> { C c = shared; if (c != null) System.out.println(c.n); }).start();
        new C();
    }
}

class FilledThenPublishedRight {
    static class Task { int id; }
    static class Queue {
        private Task next;
        synchronized void put(Task t) { next = t; }
        synchronized Task take() { Task t = next; next = null; return t; }
    }
    public static void main(String[] args) {
        Queue q = new Queue();
        new Thread(() -> { for (int i = 0; i < 9; i++) { Task t = new Task(); t.id = i; q.put(t); } }).start();
        new Thread(() -> { Task t = q.take(); if (t != null) System.out.println(t.id); }).start();
    }
}

class FilledAfterPublishedWrong {
    static class Task { int id; }
    static class Queue {
        private Task next;
        synchronized void put(Task t) { next = t; }
        synchronized Task take() { Task t = next; next = null; return t; }
    }
    public static void main(String[] args) {
        Queue q = new Queue();
        new Thread(() -> { for (int i = 0; i < 9; i++) { Task t = new Task(); q.put(t); t.id = i; } }).start(); // wrong
        new Thread(() -> { Task t = q.take(); if (t != null) System.out.println(t.id); }).start();
    }
}

class MadeByReferenceWrong {
    static class Entry {
        String key;
        Entry(String key) { keep(this); this.key = key; } // wrong
    }
    private static Entry last;
    static synchronized void keep(Entry one) { last = one; }
    static synchronized Entry last() { return last; }
    static final java.util.concurrent.ConcurrentHashMap<String, Entry> all =
        new java.util.concurrent.ConcurrentHashMap<>();
    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) new Thread(() -> {
            all.computeIfAbsent("a", Entry::new);
            last().key.length(); // wrong
        }).start();
    }
}

class MadeByReferenceRight {
    static class Entry {
        String key;
        Entry(String key) { this.key = key; keep(this); }
    }
    private static Entry last;
    static synchronized void keep(Entry one) { last = one; }
    static synchronized Entry last() { return last; }
    static final java.util.concurrent.ConcurrentHashMap<String, Entry> all =
        new java.util.concurrent.ConcurrentHashMap<>();
    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) new Thread(() -> {
            all.computeIfAbsent("a", Entry::new);
            last().key.length();
        }).start();
    }
}
