//// Handler
package app.core;

public interface Handler {
    Response handle(Request request);
}
//// Step
package app.core;

/** Something that a service asks another one to do. */
public interface Step {
    long run(long key, String text);
}
//// Request
package app.core;

public final class Request {
    public final String target;
    public final long key;
    public final String text;

    public Request(String target, long key, String text) {
        this.target = target;
        this.key = key;
        this.text = text;
    }
}
//// Response
package app.core;

public final class Response {
    public final long code;
    public final String text;

    public Response(long code, String text) {
        this.code = code;
        this.text = text;
    }
}
//// Registry
package app.core;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

public final class Registry {
    private final Map<String, Handler> handlers = new ConcurrentHashMap<>();

    public void add(String name, Handler handler) {
        handlers.put(name, handler);
    }

    public Handler find(String name) {
        return handlers.get(name);
    }
}
//// Dispatcher
package app.core;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;

/** Threads that take requests and hand them to whoever is registered for them. */
public final class Dispatcher {
    private final Registry registry;
    private final BlockingQueue<Request> queue = new LinkedBlockingQueue<>();
    private final AtomicLong served = new AtomicLong();

    public Dispatcher(Registry registry) {
        this.registry = registry;
    }

    public void submit(Request request) {
        queue.add(request);
    }

    public void start(int threads) {
        for (int i = 0; i < threads; i++) {
            new Thread(this::serve, "dispatcher").start();
        }
    }

    private void serve() {
        try {
            while (true) {
                Request request = queue.take();
                Handler handler = registry.find(request.target);
                if (handler != null) {
                    handler.handle(request);
                    served.incrementAndGet();
                }
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }
}
