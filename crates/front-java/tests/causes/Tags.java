import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/** Counts what happens, for whoever looks. */
class Hits {
    private int hits;

    void hit() {
        hits++;
    }

    int getHits() {
        return hits;
    }

    public static void main(String[] args) {
        Hits all = new Hits();
        new Thread(() -> all.hit()).start();
        new Thread(() -> all.hit()).start();
        new Thread(() -> System.out.println(all.getHits())).start();
    }
}

/** The same, but somebody depends on the number. */
class Tickets {
    private int next;

    void hit() {
        next++;
    }

    boolean mayEnter() {
        return next < 100;
    }

    public static void main(String[] args) {
        Tickets all = new Tickets();
        new Thread(() -> all.hit()).start();
        new Thread(() -> all.hit()).start();
        new Thread(() -> System.out.println(all.mayEnter())).start();
    }
}

/** A parcel goes from hand to hand. */
class Belt {
    static class Parcel {
        int stamps;
        int weight;

        void stamp() {
            weight = stamps;
        }
    }

    public static void main(String[] args) {
        BlockingQueue<Parcel> belt = new LinkedBlockingQueue<>();
        for (int i = 0; i < 2; i++) {
            new Thread(() -> belt.add(new Parcel())).start();
            new Thread(() -> {
                Parcel parcel = belt.poll();
                if (parcel != null) {
                    parcel.stamps++;
                    parcel.stamp();
                }
            }).start();
        }
    }
}

/** The same, but whoever has sent it goes on. */
class KeptParcel {
    static class Parcel {
        int stamps;
    }

    public static void main(String[] args) {
        BlockingQueue<Parcel> belt = new LinkedBlockingQueue<>();
        new Thread(() -> {
            Parcel parcel = new Parcel();
            belt.add(parcel);
            parcel.stamps++;
        }).start();
        new Thread(() -> {
            Parcel parcel = belt.poll();
            if (parcel != null) {
                parcel.stamps++;
            }
        }).start();
    }
}

/** Uses what no analysis sees, although nothing comes there. */
class Mirror {
    static int n;

    static void call(java.lang.reflect.Method method) throws Exception {
        method.invoke(null);
    }

    static synchronized void add() {
        n++;
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 2; i++) {
            new Thread(() -> add()).start();
        }
        call(null);
    }
}

/** The same without it. */
class NoMirror {
    static int n;

    static synchronized void add() {
        n++;
    }

    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) {
            new Thread(() -> add()).start();
        }
    }
}

/** Each thread has a strip of its own, which the model does not see. */
class Strips {
    public static void main(String[] args) {
        int[] strips = new int[4];
        for (int i = 0; i < strips.length; i++) {
            int own = i;
            new Thread(() -> {
                for (int k = 0; k < 5; k++) {
                    strips[own] = k;
                }
            }).start();
        }
    }
}

/** There is no bell, so nobody rings it. */
class NoBell {
    static class Bell {
        int rings;
    }

    static Bell bell;

    static void ring() {
        try {
            bell.rings = 1;
        } catch (NullPointerException e) {
            System.out.println("no bell");
        }
    }

    public static void main(String[] args) {
        if (args.length > 5) {
            bell = new Bell();
        }
        for (int i = 0; i < 2; i++) {
            new Thread(() -> ring()).start();
        }
    }
}
