/** Texts that grow, for any clients, over a class that knows no threads. */
abstract class Rope {
    protected char[] text = new char[8];
    protected int length;

    void put(char one) {
        if (length == text.length) {
            char[] more = new char[2 * length];
            System.arraycopy(text, 0, more, 0, length);
            text = more;
        }
        text[length++] = one;
    }

    int size() {
        return length;
    }

    char at(int place) {
        if (place >= length) {
            throw new StringIndexOutOfBoundsException(place);
        }
        return text[place];
    }
}

class RopeWrong extends Rope {
    @Override
    public synchronized void put(char one) {
        super.put(one);
    }

    @Override
    public synchronized int size() {
        return super.size();
    }

    @Override
    public synchronized char at(int place) {
        return super.at(place);
    }

    public synchronized void put(RopeWrong other) {
        int all = other.size(); // wrong
        for (int place = 0; place < all; place++) {
            super.put(other.at(place));
        }
    }

    public synchronized int compare(RopeWrong other) {
        return length - other.length; // wrong
    }
}

/** The same with the other one's lock held as well, as long as the unit of work takes. */
class RopeRight extends Rope {
    @Override
    public synchronized void put(char one) {
        super.put(one);
    }

    @Override
    public synchronized int size() {
        return super.size();
    }

    @Override
    public synchronized char at(int place) {
        return super.at(place);
    }

    public synchronized void put(RopeRight other) {
        synchronized (other) {
            int all = other.size();
            for (int place = 0; place < all; place++) {
                super.put(other.at(place));
            }
        }
    }

    public synchronized int compare(RopeRight other) {
        synchronized (other) {
            return length - other.length;
        }
    }
}

/** What is passed may be of the class itself, although any client could answer. */
interface Sized {
    int size();

    int[] items();
}

class SizedWrong implements Sized {
    private int[] items = new int[4];
    private int count;

    public synchronized void add(int one) {
        items = java.util.Arrays.copyOf(items, count + 1);
        items[count++] = one;
    }

    public synchronized int size() {
        return count;
    }

    public synchronized int[] items() {
        return items.clone();
    }

    public void addAll(Sized other) {
        int all = other.size(); // wrong
        int[] more = other.items();
        for (int at = 0; at < all; at++) {
            add(more[at]);
        }
    }
}
