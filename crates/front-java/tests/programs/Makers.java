/** What a method makes and keeps in a field of `this` is another object for each place where `this` is made. */
class OwnTankRight {
    static class Tank { int level; }
    static class Pump {
        static final java.util.List<Tank> all = new java.util.ArrayList<>();
        final Tank tank;
        Pump() { tank = new Tank(); all.add(tank); }
    }
    public static void main(String[] args) {
        Pump one = new Pump();
        Pump two = new Pump();
        new Thread(() -> one.tank.level++).start();
        new Thread(() -> two.tank.level++).start();
    }
}

class OwnTankWrong {
    static class Tank { int level; }
    static class Pump {
        static final java.util.List<Tank> all = new java.util.ArrayList<>();
        final Tank tank;
        Pump() { tank = new Tank(); all.add(tank); }
    }
    public static void main(String[] args) {
        Pump one = new Pump();
        Pump two = new Pump();
        new Thread(() -> one.tank.level++).start(); // wrong
        new Thread(() -> { two.tank.level++; one.tank.level++; }).start(); // wrong
    }
}

/** A constructor runs once for each `this`, so each station has one thread, which can be waited for. */
class OwnThreadRight {
    static class Worker extends Thread {
        int done;
        public void run() { done++; }
    }
    static class Station {
        final Worker worker;
        Station() { worker = new Worker(); }
    }
    public static void main(String[] args) throws InterruptedException {
        Station one = new Station();
        Station two = new Station();
        one.worker.start();
        two.worker.start();
        one.worker.join();
        two.worker.join();
        System.out.println(one.worker.done + two.worker.done);
    }
}

class OwnThreadWrong {
    static class Worker extends Thread {
        int done;
        public void run() { done++; } // wrong
    }
    static class Station {
        final Worker worker;
        Station() { worker = new Worker(); }
    }
    public static void main(String[] args) throws InterruptedException {
        Station one = new Station();
        Station two = new Station();
        one.worker.start();
        two.worker.start();
        one.worker.join();
        System.out.println(one.worker.done + two.worker.done); // wrong
    }
}

/** One place makes all stations, so their locks are many. */
class StationsInLoopWrong {
    static int total;
    static class Station extends Thread {
        final Object lock;
        Station() { lock = new Object(); }
        public void run() { synchronized (lock) { total++; } } // wrong
    }
    public static void main(String[] args) {
        for (int i = 0; i < 3; i++) new Station().start();
    }
}

class StationsByFactoryWrong {
    static int total;
    static class Station extends Thread {
        final Object lock;
        Station() { lock = new Object(); }
        public void run() { synchronized (lock) { total++; } } // wrong
    }
    static Station make() { return new Station(); }
    public static void main(String[] args) {
        make().start();
        make().start();
    }
}

/** One `this` makes several: the method is no constructor, or the constructor makes it in a loop. */
class LockMadeAgainWrong {
    static int total;
    static class Guard {
        Object lock;
        void renew() { lock = new Object(); }
    }
    static final Guard guard = new Guard();
    static final Guard other = new Guard();
    static void work() {
        guard.renew();
        other.renew();
        Object own = guard.lock;
        synchronized (own) { total++; } // wrong
    }
    public static void main(String[] args) {
        new Thread(LockMadeAgainWrong::work).start();
        new Thread(LockMadeAgainWrong::work).start();
    }
}

class LockMadeInLoopWrong {
    static int total;
    static class Guard {
        Object lock;
        Guard() {
            for (int i = 0; i < 2; i++) {
                lock = new Object();
                Object own = lock;
                new Thread(() -> { synchronized (own) { total++; } }).start(); // wrong
            }
        }
    }
    public static void main(String[] args) {
        new Guard();
    }
}

/** What one pump has made comes to another one by other ways. */
class TanksSwappedWrong {
    static class Tank { int level; }
    static class Pump {
        Tank tank;
        Pump() { tank = new Tank(); }
        void swap(Pump other) { Tank own = tank; tank = other.tank; other.tank = own; }
    }
    public static void main(String[] args) {
        Pump one = new Pump();
        Pump two = new Pump();
        Tank before = one.tank;
        one.swap(two);
        new Thread(() -> before.level++).start(); // wrong
        new Thread(() -> two.tank.level++).start(); // wrong
    }
}

class TankLentWrong {
    static class Tank { int level; }
    static class Pump {
        Tank tank;
        Pump next;
        Pump() { }
        Pump(Pump next) {
            Tank made = new Tank();
            tank = made;
            next.tank = made;
        }
    }
    public static void main(String[] args) {
        Pump one = new Pump();
        Pump two = new Pump(one);
        new Pump(new Pump());
        new Thread(() -> one.tank.level++).start(); // wrong
        new Thread(() -> two.tank.level++).start(); // wrong
    }
}

/** A copy has what the original has made. */
class TankOfCopyWrong {
    static class Tank { int level; }
    static class Pump implements Cloneable {
        Tank tank;
        Pump() { tank = new Tank(); }
        public Pump clone() {
            try { return (Pump) super.clone(); } catch (CloneNotSupportedException e) { throw new Error(e); }
        }
    }
    public static void main(String[] args) {
        Pump one = new Pump();
        Pump two = new Pump();
        Pump three = one.clone();
        new Thread(() -> one.tank.level++).start(); // wrong
        new Thread(() -> three.tank.level++).start(); // wrong
        System.out.println(two.tank.level);
    }
}

/** The constructor above makes it, for objects of two classes. */
class TankOfBaseRight {
    static class Tank { int level; }
    static class Base {
        static Tank last;
        final Tank tank;
        Base() { tank = new Tank(); last = tank; }
    }
    static class Small extends Base { }
    static class Large extends Base { }
    public static void main(String[] args) {
        Base one = new Small();
        Base two = new Large();
        new Thread(() -> one.tank.level++).start();
        new Thread(() -> two.tank.level++).start();
    }
}

class TankOfBaseWrong {
    static class Tank { int level; }
    static class Base {
        static Tank last;
        final Tank tank;
        Base() { tank = new Tank(); last = tank; }
    }
    static class Small extends Base { }
    static class Large extends Base { }
    public static void main(String[] args) {
        Base one = new Small();
        Base two = new Large();
        Tank any = Base.last;
        new Thread(() -> { one.tank.level++; any.level++; }).start(); // wrong
        new Thread(() -> two.tank.level++).start(); // wrong
    }
}

/** More places than are told apart. */
class ManyMakersWrong {
    static class Tank { int level; }
    static class Pump {
        static Tank last;
        final Tank tank;
        Pump() { tank = new Tank(); last = tank; }
    }
    public static void main(String[] args) {
        Pump[] all = { new Pump(), new Pump(), new Pump(), new Pump(), new Pump(),
            new Pump(), new Pump(), new Pump(), new Pump(), new Pump() };
        Pump mine = new Pump();
        new Thread(() -> { for (Pump one : all) one.tank.level++; }).start(); // wrong
        new Thread(() -> { mine.tank.level++; all[9].tank.level++; }).start(); // wrong
    }
}

/** What a pump makes later is its own, too, and its lock guards it. */
class RenewedRight {
    static class Tank { int level; }
    static class Pump {
        static volatile Tank last;
        Tank tank = new Tank();
        synchronized void renew() {
            Tank made = new Tank();
            tank = made;
            last = made;
            made.level++;
        }
        synchronized void pour() { tank.level++; }
    }
    public static void main(String[] args) {
        Pump one = new Pump();
        Pump two = new Pump();
        new Thread(() -> { one.renew(); two.pour(); }).start();
        new Thread(() -> { two.renew(); one.pour(); }).start();
    }
}

class RenewedWrong {
    static class Tank { int level; }
    static class Pump {
        static volatile Tank last;
        Tank tank = new Tank();
        synchronized void renew() {
            Tank made = new Tank();
            tank = made;
            last = made;
            made.level++; // wrong
        }
        synchronized void pour() { tank.level++; } // wrong
    }
    public static void main(String[] args) {
        Pump one = new Pump();
        Pump two = new Pump();
        new Thread(() -> { one.renew(); two.pour(); }).start();
        new Thread(() -> { two.renew(); one.pour(); Pump.last.level++; }).start(); // wrong
    }
}
