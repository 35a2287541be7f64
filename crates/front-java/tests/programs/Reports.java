/** A result that is read before the thread that makes it has ended, or after. */
class ReportsWrong {
    static int result;

    public static void main(String[] args) throws InterruptedException {
        Thread worker = new Thread(() -> result = 42);
        result = 1;
        worker.start();
        System.out.println(result); // wrong
        worker.join();
    }
}

class ReportsRight {
    static int result;

    public static void main(String[] args) throws InterruptedException {
        Thread worker = new Thread(() -> result = 42);
        result = 1;
        worker.start();
        worker.join();
        System.out.println(result);
    }
}
