import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;

/** What compilers of Java 21 to 25 make: patterns, virtual threads, early writes of constructors, instance main. */
class RecordPatternWrong {
    static class Cell { int n; }
    sealed interface Shape permits Circle, Square { }
    record Circle(Cell cell) implements Shape { }
    record Square(Cell cell, int side) implements Shape { }
    static void grow(Shape shape) {
        switch (shape) {
            case Circle(Cell cell) -> cell.n++; // wrong
            case Square(Cell cell, int side) when side > 1 -> cell.n += side; // wrong
            case Square(var cell, var _) -> cell.n--; // wrong
        }
    }
    public static void main(String[] args) {
        Cell cell = new Cell();
        new Thread(() -> grow(new Circle(cell))).start();
        new Thread(() -> grow(new Square(cell, args.length))).start();
    }
}

class RecordPatternRight {
    static class Cell { int n; }
    sealed interface Shape permits Circle, Square { }
    record Circle(Cell cell) implements Shape { }
    record Square(Cell cell, int side) implements Shape { }
    static void grow(Shape shape) {
        switch (shape) {
            case Circle(Cell cell) -> { synchronized (cell) { cell.n++; } }
            case Square(Cell cell, int side) when side > 1 -> { synchronized (cell) { cell.n += side; } }
            case Square(var cell, var _) -> { synchronized (cell) { cell.n--; } }
        }
    }
    public static void main(String[] args) {
        Cell cell = new Cell();
        new Thread(() -> grow(new Circle(cell))).start();
        new Thread(() -> grow(new Square(cell, args.length))).start();
    }
}

class EnumPatternWrong {
    sealed interface Order permits Size, Note { }
    enum Size implements Order { SMALL, LARGE; int sold; }
    record Note(String text) implements Order { }
    static void sell(Order order) {
        switch (order) {
            case Size.SMALL -> Size.SMALL.sold++; // wrong
            case Size size -> size.sold++; // wrong
            case Note note -> System.out.println(note.text());
        }
    }
    public static void main(String[] args) {
        new Thread(() -> sell(Size.SMALL)).start();
        new Thread(() -> sell(Size.valueOf(args[0]))).start();
    }
}

class VirtualWrong {
    static int total;
    public static void main(String[] args) throws InterruptedException {
        Thread one = Thread.startVirtualThread(() -> total++); // wrong
        Thread two = Thread.ofVirtual().start(() -> total++); // wrong
        one.join();
        two.join();
    }
}

class VirtualRight {
    static int total;
    static final Object lock = new Object();
    public static void main(String[] args) throws InterruptedException {
        Thread one = Thread.startVirtualThread(() -> { synchronized (lock) { total++; } });
        Thread two = Thread.ofVirtual().start(() -> { synchronized (lock) { total++; } });
        one.join();
        two.join();
    }
}

class ClosedWrong {
    static int total;
    public static void main(String[] args) {
        try (var pool = Executors.newVirtualThreadPerTaskExecutor()) {
            pool.submit(() -> total++); // wrong
            total++; // wrong
        }
        System.out.println(total);
    }
}

class ClosedRight {
    static int total;
    public static void main(String[] args) {
        try (var pool = Executors.newVirtualThreadPerTaskExecutor()) {
            pool.submit(() -> total++);
        }
        System.out.println(total);
    }
}

/** A constructor may write fields before it calls the one above, which makes the object known. */
class EarlyWriteWrong {
    static class Base {
        Base() { new Thread(this::show).start(); }
        void show() { }
    }
    static class Sign extends Base {
        int width;
        int height;
        Sign() { width = 2; super(); height = 3; } // wrong
        @Override void show() { System.out.println(width + height); } // wrong
    }
    public static void main(String[] args) { new Sign(); }
}

class EarlyWriteRight {
    static class Base {
        Base() { new Thread(this::show).start(); }
        void show() { }
    }
    static class Sign extends Base {
        int width;
        int height;
        Sign() { width = 2; height = 3; super(); }
        @Override void show() { System.out.println(width + height); }
    }
    public static void main(String[] args) { new Sign(); }
}

/** A lock that is there before the constructor above makes the object known. */
class EarlyLockWrong {
    static int total;
    static class Base {
        Base() { new Thread(this::count).start(); count(); }
        void count() { }
    }
    static class Meter extends Base {
        Object lock;
        Meter() { lock = new Object(); super(); lock = new Object(); count(); }
        @Override void count() { synchronized (lock) { total++; } } // wrong
    }
    public static void main(String[] args) { new Meter(); }
}

class EarlyLockRight {
    static int total;
    static class Base {
        Base() { new Thread(this::count).start(); count(); }
        void count() { }
    }
    static class Meter extends Base {
        final Object lock;
        Meter() { lock = new Object(); super(); }
        @Override void count() { synchronized (lock) { total++; } }
    }
    public static void main(String[] args) { new Meter(); }
}

/** A program may begin with a method of an object, without parameters. */
class InstanceMainWrong {
    int total;
    void main() {
        new Thread(() -> total++).start(); // wrong
        total++; // wrong
    }
}

class InstanceMainRight {
    int total;
    synchronized void add() { total++; }
    void main(String[] args) {
        new Thread(this::add).start();
        add();
    }
}

class PackagedMainWrong {
    static int total;
    static void main() {
        new Thread(() -> total++).start(); // wrong
        total++; // wrong
    }
}

class ReversedWrong {
    static final List<String> list = new ArrayList<>();
    public static void main(String[] args) {
        List<String> view = list.reversed();
        new Thread(() -> { synchronized (list) { list.addLast("a"); } }).start(); // wrong
        new Thread(() -> System.out.println(view.getFirst())).start(); // wrong
    }
}

class ReversedRight {
    static final List<String> list = new ArrayList<>();
    public static void main(String[] args) {
        List<String> view = list.reversed();
        new Thread(() -> { synchronized (list) { list.addLast("a"); } }).start();
        new Thread(() -> { synchronized (list) { System.out.println(view.getFirst()); } }).start();
    }
}

class ScopedWrong {
    static class Cell { int n; }
    static final ScopedValue<Cell> CELL = ScopedValue.newInstance();
    public static void main(String[] args) {
        Cell cell = new Cell();
        for (int i = 0; i < 2; i++) {
            new Thread(() -> ScopedValue.where(CELL, cell).run(() -> CELL.get().n++)).start(); // wrong
        }
    }
}
