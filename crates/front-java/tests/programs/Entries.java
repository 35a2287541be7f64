/** Methods that something else calls, in threads of its own; what is assumed of code that is not there. */
class RequestsBare {
    private int served;

    public void handle() {
        served++; // wrong
    }
}

class RequestsKept {
    private int served;

    public void handle() {
        synchronized (this) {
            served++;
        }
    }
}

class GivenAwayAsked {
    private int turns;

    synchronized void turn() {
        java.lang.ref.Reference.reachabilityFence(this);
        turns++; // wrong
    }

    public static void main(String[] args) {
        GivenAwayAsked one = new GivenAwayAsked();
        for (int i = 0; i < 2; i++) {
            new Thread(one::turn).start();
        }
    }
}
