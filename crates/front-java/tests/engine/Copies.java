// Copies of copies of copies: what they can be has an end.
class CopiesWrong {
    static int[] first = new int[1];
    static int[] second = new int[1];
    static int[] third = new int[1];

    static void turn() {
        first = second.clone(); // wrong
        second = third.clone();
        third = first.clone();
        first[0]++;
    }

    public static void main(String[] arguments) {
        new Thread(CopiesWrong::turn).start();
        new Thread(CopiesWrong::turn).start();
    }
}

class CopiesRight {
    static int[] first = new int[1];
    static int[] second = new int[1];
    static int[] third = new int[1];

    static synchronized void turn() {
        first = second.clone();
        second = third.clone();
        third = first.clone();
        first[0]++;
    }

    public static void main(String[] arguments) {
        new Thread(CopiesRight::turn).start();
        new Thread(CopiesRight::turn).start();
    }
}
