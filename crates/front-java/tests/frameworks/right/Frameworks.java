package right;

import javax.servlet.http.HttpServlet;
import javax.servlet.http.HttpServletRequest;
import org.junit.Before;
import org.junit.Test;
import org.spring.Autowired;
import org.spring.GetMapping;
import org.spring.PostConstruct;
import org.spring.RestController;
import org.spring.Scheduled;
import org.spring.Service;

class Visits extends HttpServlet {
    private String greeting;
    private int visits;

    @Override
    public void init() {
        greeting = "welcome";
    }

    protected synchronized void doGet(HttpServletRequest request) {
        visits = visits + greeting.length() + request.getParameter("name").length();
    }
}

interface Shelf {
    void take();

    void refill();
}

@Service
class Stock implements Shelf {
    private int pieces;

    @PostConstruct
    void fill() {
        pieces = 10;
    }

    @Override
    public synchronized void take() {
        pieces = pieces - 1;
    }

    @Override
    public synchronized void refill() {
        pieces = pieces + 1;
    }
}

@RestController
class Orders {
    @Autowired
    private Shelf shelf;

    @GetMapping
    public void order() {
        shelf.take();
    }

    @Scheduled
    public void nightly() {
        shelf.refill();
    }
}

class CounterTest {
    private int count;

    @Before
    public void reset() {
        count = 0;
    }

    @Test
    public void counts() throws InterruptedException {
        Thread one = new Thread(() -> count = count + 1);
        Thread other = new Thread(() -> count = count + 1);
        one.start();
        one.join();
        other.start();
        other.join();
        count = count + 1;
    }
}
