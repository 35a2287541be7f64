// Who answers to a call: classes before interfaces, the interface that overrides before the one that is
// overridden. Running it prints the class and the method that each call reaches.
interface Moored {
    int ROPES = 2;

    default String tie() {
        return "Moored.tie";
    }

    default String name() {
        return "Moored.name";
    }
}

interface Anchored extends Moored {
    default String tie() {
        return "Anchored.tie";
    }
}

abstract class Vessel implements Moored {
    protected int length = 1;

    public String name() {
        return "Vessel.name";
    }

    abstract String cargo();

    private String secret() {
        return "Vessel.secret";
    }

    static String port() {
        return "Vessel.port";
    }

    String tell() {
        return secret();
    }
}

class Barge extends Vessel implements Anchored {
    int length = 3;

    String cargo() {
        return "Barge.cargo";
    }

    String secret() {
        return "Barge.secret";
    }
}

class Lighter extends Barge {
    String cargo() {
        return "Lighter.cargo";
    }
}

public class Harbour {
    public static void main(String[] arguments) {
        Lighter one = new Lighter();
        Vessel vessel = one;
        System.out.println(vessel.tie() + " " + vessel.name() + " " + vessel.cargo());
        System.out.println(vessel.tell() + " " + one.secret() + " " + Lighter.port());
        System.out.println(vessel.length + " " + one.length + " " + Lighter.ROPES);
        Runnable later = one::cargo;
        later.run();
    }
}
