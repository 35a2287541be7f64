// A small class with one of everything that the reader has to know.
import java.util.function.IntSupplier;

public class Turnstile implements Runnable {
    static final int GATES = 3;
    static final long LARGE = 1L << 40;
    static final String NAME = "gate \uD83D\uDE00\u0000";
    private volatile boolean open;
    private final Object lock = new Object();
    private int[] counts = new int[GATES];
    private String[][] labels = new String[2][3];
    protected double rate;
    private static float share = 0.5f;

    @interface Guarded {
        String[] by();
    }

    @Guarded(by = {"lock", "this"})
    synchronized int pass(int gate) {
        counts[gate]++;
        return counts[gate];
    }

    public void run() {
        synchronized (lock) {
            try {
                for (int i = 0; i < GATES; i++) {
                    pass(i);
                }
            } catch (RuntimeException wrong) {
                open = wrong == null;
            } finally {
                rate = rate * 2 - (double) LARGE;
            }
        }
    }

    static int pick(int which, Object other) {
        switch (which) {
            case 1: return 10;
            case 2: return 20;
            case 3: return other instanceof Turnstile ? ((Turnstile) other).counts.length : -1;
            case 100000: return (int) share;
            default: break;
        }
        switch (which >>> 1) {
            case -5: return 7;
            case 1 << 20: return 8;
            default: return which % 7 & 3;
        }
    }

    IntSupplier later(int gate) {
        return () -> pass(gate);
    }

    String show() {
        return NAME + labels[1][2] + open + rate + LARGE;
    }

    public static void main(String[] arguments) throws Exception {
        Turnstile one = new Turnstile();
        Thread thread = new Thread(one);
        thread.start();
        thread.join();
        System.out.println(one.later(1).getAsInt() + pick(3, one));
        throw new IllegalStateException(one.show());
    }
}
