package wrong;

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

    protected void doGet(HttpServletRequest request) {
        visits = visits + greeting.length() + request.getParameter("name").length(); // wrong: servlet
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
    public void take() {
        pieces = pieces - 1; // wrong: spring
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
        Thread other = new Thread(() -> count = count + 1); // wrong: junit
        one.start();
        other.start();
        one.join();
        other.join();
        count = count + 1;
    }
}

/** What is marked in an interface or a class above is called on objects of the class. */
interface Totals {
    @GetMapping
    void total();
}

abstract class Tally {
    protected int tallies;

    @Scheduled
    void tally() {
        tallies = tallies + 1; // wrong: spring above
    }
}

@RestController
class Tallies extends Tally implements Totals {
    private int totals;

    @Override
    public void total() {
        totals = totals + 1; // wrong: spring interface
    }
}

abstract class SharedTests {
    private int steps;

    @Test
    public void two() {
        new Thread(() -> { steps = steps + 1; }).start(); // wrong: junit above
        steps = steps + 2;
    }
}

class InheritedTests extends SharedTests {
}
