import java.util.Arrays;
import java.util.Collection;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.function.Consumer;

/** Rows that grow, for any clients: each has iterators, calls what it is given, and counts its changes. */
abstract class Row {
    protected int changes;
    protected Object[] cells = new Object[4];
    protected int count;

    protected void grow(int wanted) {
        if (wanted > cells.length) {
            cells = Arrays.copyOf(cells, 2 * wanted);
        }
    }

    public synchronized void add(Object thing) {
        changes++;
        grow(count + 1);
        cells[count++] = thing;
    }

    public synchronized int indexOf(Object thing) {
        for (int at = 0; at < count; at++) {
            if (thing.equals(cells[at])) {
                return at;
            }
        }
        return -1;
    }

    public synchronized void forEach(Consumer<Object> action) {
        int before = changes;
        for (int at = 0; at < count; at++) {
            action.accept(cells[at]);
        }
        if (before != changes) {
            throw new IllegalStateException("changed");
        }
    }

    public synchronized Iterator<Object> iterator() {
        return new Steps();
    }

    class Steps implements Iterator<Object> {
        private final int expected = changes;

        public boolean hasNext() {
            synchronized (Row.this) {
                return count > 0 && expected == changes;
            }
        }

        public Object next() {
            synchronized (Row.this) {
                if (expected != changes) {
                    throw new NoSuchElementException();
                }
                return cells[0];
            }
        }
    }
}

class RowWrong extends Row {
    public boolean addAll(Collection<?> things) {
        Object[] all = things.toArray();
        changes++; // wrong
        synchronized (this) {
            grow(count + all.length);
            System.arraycopy(all, 0, cells, count, all.length);
            count += all.length;
        }
        return all.length > 0;
    }
}

class RowRight extends Row {
    public boolean addAll(Collection<?> things) {
        Object[] all = things.toArray();
        synchronized (this) {
            changes++;
            grow(count + all.length);
            System.arraycopy(all, 0, cells, count, all.length);
            count += all.length;
        }
        return all.length > 0;
    }
}
