/** One thread has nobody to get in its way. */
class LonelyOne {
    static int n;

    public static void main(String[] args) {
        n++;
    }
}
