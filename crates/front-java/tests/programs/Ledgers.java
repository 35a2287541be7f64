/** Two fields that belong together, written in one block or in two. */
class LedgersWrong {
    static class Ledger {
        private int debit;
        private int credit;

        void book(int amount) {
            synchronized (this) {
                debit += amount;
            }
            synchronized (this) {
                credit += amount; // wrong
            }
        }

        synchronized boolean balanced() {
            return debit == credit;
        }
    }

    public static void main(String[] args) {
        Ledger ledger = new Ledger();
        new Thread(() -> ledger.book(1)).start();
        new Thread(() -> System.out.println(ledger.balanced())).start();
    }
}

class LedgersRight {
    static class Ledger {
        private int debit;
        private int credit;

        void book(int amount) {
            synchronized (this) {
                debit += amount;
                credit += amount;
            }
        }

        synchronized boolean balanced() {
            return debit == credit;
        }
    }

    public static void main(String[] args) {
        Ledger ledger = new Ledger();
        new Thread(() -> ledger.book(1)).start();
        new Thread(() -> System.out.println(ledger.balanced())).start();
    }
}
