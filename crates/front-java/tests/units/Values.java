// Findings that values rule out, and some that they do not.

/** Who fills the slot finds it empty, and who empties it finds it full: they never meet. */
class SlotApart {
    private boolean full;
    private int load;

    synchronized boolean isFull() {
        return full;
    }

    synchronized void set(boolean now) {
        full = now;
    }

    void fill() {
        if (!isFull()) {
            load = load + 1;
            set(true);
        }
    }

    void empty() {
        if (isFull()) {
            load = load - 1;
            set(false);
        }
    }

    public static void main(String[] args) {
        SlotApart slot = new SlotApart();
        new Thread(() -> { while (true) slot.fill(); }).start();
        new Thread(() -> { while (true) slot.empty(); }).start();
    }
}

/** Who empties it says so too early. */
class SlotEarly {
    private boolean full;
    private int load;

    synchronized boolean isFull() {
        return full;
    }

    synchronized void set(boolean now) {
        full = now;
    }

    void fill() {
        if (!isFull()) {
            load = load + 1;
            set(true);
        }
    }

    void empty() {
        if (isFull()) {
            set(false);
            load = load - 1;
        }
    }

    public static void main(String[] args) {
        SlotEarly slot = new SlotEarly();
        new Thread(() -> { while (true) slot.fill(); }).start();
        new Thread(() -> { while (true) slot.empty(); }).start();
    }
}

/** As the first, but a third thread changes what the others rely on. */
class SlotDisturbed {
    private boolean full;
    private int load;

    synchronized boolean isFull() {
        return full;
    }

    synchronized void set(boolean now) {
        full = now;
    }

    void fill() {
        if (!isFull()) {
            load = load + 1;
            set(true);
        }
    }

    void empty() {
        if (isFull()) {
            load = load - 1;
            set(false);
        }
    }

    public static void main(String[] args) {
        SlotDisturbed slot = new SlotDisturbed();
        new Thread(() -> { while (true) slot.fill(); }).start();
        new Thread(() -> { while (true) slot.empty(); }).start();
        new Thread(() -> { slot.set(false); }).start();
    }
}

/** The same with a reference that is null or not. */
class ParcelApart {
    private Object parcel;
    private int weight;

    synchronized Object parcel() {
        return parcel;
    }

    synchronized void set(Object now) {
        parcel = now;
    }

    void bring() {
        if (parcel() == null) {
            weight = 5;
            set(new Object());
        }
    }

    void take() {
        if (parcel() != null) {
            weight = 0;
            set(null);
        }
    }

    public static void main(String[] args) {
        ParcelApart desk = new ParcelApart();
        new Thread(() -> { while (true) desk.bring(); }).start();
        new Thread(() -> { while (true) desk.take(); }).start();
    }
}

/** Any number of threads bring, of which two may find nothing there. */
class ParcelsTogether {
    private Object parcel;
    private int weight;

    synchronized Object parcel() {
        return parcel;
    }

    synchronized void set(Object now) {
        parcel = now;
    }

    void bring() {
        if (parcel() == null) {
            weight = 5;
            set(new Object());
        }
    }

    public static void main(String[] args) {
        ParcelsTogether desk = new ParcelsTogether();
        for (int i = 0; i < 2; i++) {
            new Thread(() -> { while (true) desk.bring(); }).start();
        }
    }
}

/** The constructor lets somebody look before it is done. */
class SlotLeaked {
    private boolean full;
    private int load;

    SlotLeaked() {
        new Thread(() -> { if (!isFull()) load = load + 1; }).start();
        synchronized (this) {
            full = true;
        }
    }

    synchronized boolean isFull() {
        return full;
    }

    public static void main(String[] args) {
        SlotLeaked slot = new SlotLeaked();
        new Thread(() -> { if (slot.isFull()) slot.load = slot.load - 1; }).start();
    }
}
