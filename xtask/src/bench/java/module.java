//// Item
package app.m#;

/** A value that never changes. */
public final class Item {
    private final long id;
    private final String name;
    private final int version;

    public Item(long id, String name, int version) {
        this.id = id;
        this.name = name;
        this.version = version;
    }

    public long id() {
        return id;
    }

    public String name() {
        return name;
    }

    public int version() {
        return version;
    }

    public Item renamed(String name) {
        return new Item(id, name, version + 1);
    }
}
//// ItemKey
package app.m#;

public final class ItemKey implements Comparable<ItemKey> {
    private final long id;

    public ItemKey(long id) {
        this.id = id;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof ItemKey && ((ItemKey) other).id == id;
    }

    @Override
    public int hashCode() {
        return (int) (id ^ id >>> 32);
    }

    @Override
    public int compareTo(ItemKey other) {
        return Long.compare(id, other.id);
    }

    @Override
    public String toString() {
        return "m#-" + id;
    }
}
//// Repository
package app.m#;

public interface Repository {
    Item find(long id);

    void save(Item item);

    int count();
}
//// MapRepository
package app.m#;

import java.util.HashMap;
import java.util.Map;

public final class MapRepository implements Repository {
    private final Map<ItemKey, Item> items = new HashMap<>();

    @Override
    public synchronized Item find(long id) {
        return items.get(new ItemKey(id));
    }

    @Override
    public synchronized void save(Item item) {
        items.put(new ItemKey(item.id()), item);
    }

    @Override
    public synchronized int count() {
        return items.size();
    }
}
//// ListRepository
package app.m#;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

public final class ListRepository implements Repository {
    private final Lock lock = new ReentrantLock();
    private final List<Item> items = new ArrayList<>();
    private int changes;

    @Override
    public Item find(long id) {
        lock.lock();
        try {
            for (Item item : items) {
                if (item.id() == id) {
                    return item;
                }
            }
            return null;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void save(Item item) {
        lock.lock();
        try {
            items.removeIf(other -> other.id() == item.id());
            items.add(item);
            changes++;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public int count() {
        lock.lock();
        try {
            return items.size() + changes;
        } finally {
            lock.unlock();
        }
    }
}
//// ConcurrentRepository
package app.m#;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

public final class ConcurrentRepository implements Repository {
    private final ConcurrentMap<ItemKey, Item> items = new ConcurrentHashMap<>();

    @Override
    public Item find(long id) {
        return items.get(new ItemKey(id));
    }

    @Override
    public void save(Item item) {
        items.put(new ItemKey(item.id()), item);
    }

    @Override
    public int count() {
        return items.size();
    }
}
//// Cache
package app.m#;

import java.util.HashMap;
import java.util.Map;

public final class Cache {
    private final Object lock = new Object();
    private final Map<Long, Item> items = new HashMap<>();
    private int hits;
    private int misses;

    public Item get(long id) {
        synchronized (lock) {
            Item item = items.get(id);
            if (item == null) {
                misses++;
            } else {
                hits++;
            }
            return item;
        }
    }

    public void put(Item item) {
        synchronized (lock) {
            items.put(item.id(), item);
        }
    }

    public int rate() {
        synchronized (/*Cache*/) {
            return hits * 100 / (hits + misses + 1);
        }
    }
}
//// Listener
package app.m#;

public interface Listener {
    void changed(Item before, Item after);
}
//// AuditListener
package app.m#;

import java.util.ArrayList;
import java.util.List;

public final class AuditListener implements Listener {
    private final List<String> lines = new ArrayList<>();
    private final int most;

    public AuditListener(int most) {
        this.most = most;
    }

    @Override
    public void changed(Item before, Item after) {
        append(after.name());
    }

    private /*AuditListener*/ void append(String line) {
        if (size() < most) {
            add(line);
        }
    }

    private synchronized void add(String line) {
        lines.add(line);
    }

    public synchronized int size() {
        return lines.size();
    }
}
//// MetricsListener
package app.m#;

import java.util.concurrent.atomic.AtomicLong;

public final class MetricsListener implements Listener {
    private final AtomicLong changes = new AtomicLong();
    private volatile long last;

    @Override
    public void changed(Item before, Item after) {
        changes.incrementAndGet();
        last = after.id();
    }

    public long changes() {
        return changes.get();
    }

    public long last() {
        return last;
    }
}
//// EventBus
package app.m#;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

public final class EventBus {
    private final List<Listener> listeners = new CopyOnWriteArrayList<>();

    public void register(Listener listener) {
        listeners.add(listener);
    }

    public void publish(Item before, Item after) {
        for (Listener listener : listeners) {
            listener.changed(before, after);
        }
    }
}
//// Validator
package app.m#;

public interface Validator {
    boolean accepts(Item item);
}
//// LengthValidator
package app.m#;

public final class LengthValidator implements Validator {
    private final int longest;

    public LengthValidator(int longest) {
        this.longest = longest;
    }

    @Override
    public boolean accepts(Item item) {
        return item.name().length() <= longest;
    }
}
//// VersionValidator
package app.m#;

public final class VersionValidator implements Validator {
    @Override
    public boolean accepts(Item item) {
        return item.version() >= 0;
    }
}
//// RejectedException
package app.m#;

public final class RejectedException extends RuntimeException {
    private final long id;

    public RejectedException(Item item) {
        super("rejected " + item.name());
        this.id = item.id();
    }

    public long id() {
        return id;
    }
}
//// Statistics
package app.m#;

public final class Statistics {
    private long total;
    private long failed;

    public /*Statistics*/ void count(boolean ok) {
        total++;
        if (!ok) {
            failed++;
        }
    }

    public synchronized long total() {
        return total;
    }

    public synchronized long failed() {
        return failed;
    }
}
//// Account
package app.m#;

public final class Account {
    private long amount;

    public synchronized void add(long more) {
        amount += more;
    }

    public synchronized long amount() {
        return amount;
    }
}
//// Ledger
package app.m#;

public final class Ledger {
    private final Account income = new Account();
    private final Account costs = new Account();

    public void book(long amount) {
        synchronized (income) {
            synchronized (costs) {
                income.add(amount);
                costs.add(-amount);
            }
        }
    }

    public long balance() {
        synchronized (/*Ledger-first*/) {
            synchronized (/*Ledger-second*/) {
                return income.amount() + costs.amount();
            }
        }
    }
}
//// Config
package app.m#;

public final class Config {
    public final int longest;
    public final int audited;
    private final boolean ordered;

    public Config(int longest, int audited, boolean ordered) {
        this.longest = longest;
        this.audited = audited;
        this.ordered = ordered;
    }

    public Repository repository() {
        if (ordered) {
            return new ListRepository();
        }
        return audited > 10 ? new MapRepository() : new ConcurrentRepository();
    }
}
//// Texts
package app.m#;

public final class Texts {
    private Texts() {}

    public static String clean(String text) {
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            char one = text.charAt(i);
            if (Character.isLetterOrDigit(one)) {
                out.append(one);
            }
        }
        return out.toString();
    }
}
//// Service
package app.m#;

import app.core.Step;
import java.util.ArrayList;
import java.util.List;

public final class Service implements Step {
    private final Repository repository;
    private final Cache cache = new Cache();
    private final EventBus bus = new EventBus();
    private final Statistics statistics = new Statistics();
    private final Ledger ledger = new Ledger();
    private final List<Validator> validators;
    private final Step next;

    public Service(Config config, Step next) {
        this.repository = config.repository();
        List<Validator> all = new ArrayList<>();
        all.add(new LengthValidator(config.longest));
        all.add(new VersionValidator());
        this.validators = all;
        this.next = next;
        bus.register(new AuditListener(config.audited));
        bus.register(new MetricsListener());
    }

    private Item load(long key) {
        Item cached = cache.get(key);
        if (cached != null) {
            return cached;
        }
        Item item = repository.find(key);
        if (item != null) {
            cache.put(item);
        }
        return item;
    }

    @Override
    public long run(long key, String text) {
        Item before = load(key);
        Item after =
                before == null ? new Item(key, text, 0) : before.renamed(Texts.clean(text));
        for (Validator validator : validators) {
            if (!validator.accepts(after)) {
                statistics.count(false);
                throw new RejectedException(after);
            }
        }
        repository.save(after);
        cache.put(after);
        bus.publish(before, after);
        ledger.book(after.version());
        statistics.count(true);
        return next == null ? after.version() : next.run(key + 1, text);
    }

    public long report() {
        return statistics.total() + statistics.failed() + cache.rate() + repository.count()
                + ledger.balance();
    }
}
//// ServiceHandler
package app.m#;

import app.core.Handler;
import app.core.Request;
import app.core.Response;

public final class ServiceHandler implements Handler {
    private final Service service;

    public ServiceHandler(Service service) {
        this.service = service;
    }

    @Override
    public Response handle(Request request) {
        try {
            return new Response(service.run(request.key, request.text), "ok");
        } catch (RejectedException rejected) {
            return new Response(-rejected.id(), rejected.getMessage());
        }
    }
}
//// Worker
package app.m#;

public final class Worker implements Runnable {
    private final Service service;

    public Worker(Service service) {
        this.service = service;
    }

    @Override
    public void run() {
        for (long key = 0; key < 1000; key++) {
            service.run(key, "worker");
            if (service.report() < 0) {
                return;
            }
        }
    }
}
//// Module
package app.m#;

import app.core.Dispatcher;
import app.core.Registry;
import app.core.Request;
import app.core.Step;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

public final class Module {
    private final Service service;

    public Module(Registry registry, Dispatcher dispatcher, Step next) {
        service = new Service(new Config(100, 50, (dispatcher.hashCode() & 1) == 0), next);
        registry.add("m#", new ServiceHandler(service));
        dispatcher.submit(new Request("m#", #, "start"));
    }

    public Step step() {
        return service;
    }

    public void start() {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        for (int i = 0; i < 2; i++) {
            pool.execute(new Worker(service));
        }
    }
}
