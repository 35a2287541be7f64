package selvedge;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Holds the threads of a program at places of its classes until it is their turn. The classes are copies that call
 * {@link #before} and {@link #after} around the instructions that the schedule names. Without a schedule, it lets
 * threads pause at random and writes down which accesses were about to happen at the same time, and which units of
 * work were neither before nor after each other.
 */
public final class Conductor {
    /** A step of a schedule: who does what where, and how many accesses must have happened before. */
    private static final class Step {
        final int slot, point, needs, unit;
        final boolean access;
        final String owner;

        Step(String[] words) {
            slot = Integer.parseInt(words[1]);
            point = Integer.parseInt(words[2]);
            needs = Integer.parseInt(words[3]);
            access = words[4].equals("access");
            unit = Integer.parseInt(words[5]);
            owner = words[6];
        }
    }

    /** What is known of a thread. */
    private static final class Player {
        int epoch, slot = -1, position;
        Step current;
        final Map<Integer, Integer> visits = new HashMap<>();
    }

    /** The objects of a call, of which it may access each. */
    private static final class Call {
        final Object[] objects;

        Call(Object[] objects) {
            this.objects = objects;
        }

        boolean has(Object one) {
            for (Object object : objects) if (object == one && one != null) return true;
            return false;
        }
    }

    /** An element of an array. */
    private static final class Element {
        final Object array;
        final int index;

        Element(Object array, int index) {
            this.array = array;
            this.index = index;
        }
    }

    /** Whether two accesses are of one object, and of one element of it. Two calls that are only given the same object prove nothing. */
    private static boolean isSame(Object one, Object two) {
        if (one instanceof Call && two instanceof Call) {
            return ((Call) one).has(((Call) two).objects[0]) || ((Call) two).has(((Call) one).objects[0]);
        }
        if (one instanceof Element && two instanceof Element && ((Element) one).index != ((Element) two).index) {
            return false;
        }
        Object first = one instanceof Element ? ((Element) one).array : one;
        Object second = two instanceof Element ? ((Element) two).array : two;
        if (first instanceof Call) return ((Call) first).has(second);
        if (second instanceof Call) return ((Call) second).has(first);
        return first == second;
    }

    /** A thread at a place where another one is waited for. */
    private static final class Waiting {
        final Thread thread = Thread.currentThread();
        final Object object;
        final int point;
        boolean met;

        Waiting(Object object, int point) {
            this.object = object;
            this.point = point;
        }
    }

    /** An access in a unit of work. */
    private static final class Access {
        final Thread thread = Thread.currentThread();
        final int point, unit;
        final boolean writes;
        final String field;

        Access(int point, int unit, boolean writes, String field) {
            this.point = point;
            this.unit = unit;
            this.writes = writes;
            this.field = field;
        }
    }

    private static final Object LOCK = new Object();
    private static final Map<Thread, Player> PLAYERS = new IdentityHashMap<>();
    private static final List<Step> STEPS = new ArrayList<>();
    private static final Set<Integer> UNITS = new HashSet<>();
    private static final Set<Integer> MAINS = new HashSet<>();
    private static final Set<Integer> SEEN = new TreeSet<>();
    private static final Map<Integer, String> WATCHED = new HashMap<>();
    private static final Set<Integer> BEGINS = new HashSet<>();
    private static final Set<Integer> ENDS = new HashSet<>();
    private static final ThreadLocal<int[]> UNIT = ThreadLocal.withInitial(() -> new int[2]);
    private static final Map<Object, List<Access>> ACCESSES = new IdentityHashMap<>();
    private static final Set<Long> ORDER = new HashSet<>();
    /** More accesses of one object than these are not compared. */
    private static final int COMPARED = 120;
    private static final List<Waiting> HELD = new ArrayList<>();
    private static final Set<Long> MET = new HashSet<>();
    private static final Set<String> OBSERVED = new TreeSet<>();
    private static final long FIRST = System.currentTimeMillis();

    private static String kind = "none";
    private static Path result;
    private static long hold = 200, limit = 5000;
    private static int accesses, done, best, round, units;
    private static long moved = FIRST;
    private static Thread[] bound = new Thread[0];
    private static final Map<String, Object> OWNERS = new HashMap<>();
    private static final Map<String, Integer> EPOCHS = new HashMap<>();

    static {
        try {
            read();
        } catch (IOException | RuntimeException wrong) {
            kind = "none";
        }
    }

    private Conductor() {}

    private static void read() throws IOException {
        String schedule = System.getProperty("selvedge.schedule");
        if (schedule == null) return;
        int slots = 0;
        for (String line : Files.readAllLines(Paths.get(schedule), StandardCharsets.UTF_8)) {
            String[] words = line.split(" ");
            switch (words[0]) {
                case "finding": kind = words[1]; break;
                case "thread": slots++; if (words[2].equals("main")) MAINS.add(Integer.parseInt(words[1])); break;
                case "step": STEPS.add(new Step(words)); break;
                case "unit": UNITS.add(Integer.parseInt(words[1])); break;
                case "begin": BEGINS.add(Integer.parseInt(words[1])); break;
                case "end": ENDS.add(Integer.parseInt(words[1])); break;
                case "watch": WATCHED.put(Integer.parseInt(words[1]), words[2] + " " + words[3]); break;
                default: break;
            }
        }
        for (Step step : STEPS) if (step.access) accesses++;
        bound = new Thread[slots];
        hold = Long.getLong("selvedge.hold", hold);
        limit = Long.getLong("selvedge.limit", limit);
        result = Paths.get(System.getProperty("selvedge.result"));
        Thread clock = new Thread(Conductor::watch, "selvedge");
        clock.setDaemon(true);
        clock.start();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> say("ended")));
    }

    /** Ends the program when its time is over, and looks for threads that wait for each other. */
    private static void watch() {
        while (System.currentTimeMillis() - FIRST < limit) {
            try {
                Thread.sleep(20);
            } catch (InterruptedException e) {
                return;
            }
            if (kind.equals("deadlock") && isStuck()) finish("reproduced");
        }
        finish("time");
    }

    private static boolean isStuck() {
        long[] stuck = ManagementFactory.getThreadMXBean().findDeadlockedThreads();
        if (stuck == null) return false;
        synchronized (LOCK) {
            return Arrays.stream(stuck).filter(MET::contains).count() >= bound.length;
        }
    }

    private static void finish(String how) {
        say(how);
        Runtime.getRuntime().halt(0);
    }

    /** Writes down how it ended, how far it came and which places were reached; the first word counts. */
    private static void say(String how) {
        // Who is interrupted cannot write.
        Thread.interrupted();
        synchronized (LOCK) {
            if (result == null) return;
            StringBuilder text = new StringBuilder(how + "\n" + best + "\n");
            for (int point : SEEN) text.append("seen ").append(point).append('\n');
            for (String pair : OBSERVED) text.append(pair).append('\n');
            try {
                Path half = Paths.get(result + ".part");
                Files.write(half, text.toString().getBytes(StandardCharsets.UTF_8));
                Files.move(half, result, StandardCopyOption.REPLACE_EXISTING);
            } catch (IOException e) {
                return;
            }
            result = null;
        }
    }

    /** A thread is about to do what is at a place, with an object or with none. */
    public static void before(Object object, int point) {
        if (kind.equals("watch")) {
            if (BEGINS.contains(point)) begin();
            if (WATCHED.containsKey(point)) enter(object, point);
            if (ENDS.contains(point)) UNIT.get()[0]--;
            return;
        }
        boolean over = false;
        synchronized (LOCK) {
            Player player = PLAYERS.computeIfAbsent(Thread.currentThread(), thread -> new Player());
            if (UNITS.contains(point)) player.epoch++;
            SEEN.add(point);
            if (kind.equals("race") || kind.equals("deadlock")) over = meet(player, object, point);
            else if (kind.equals("atomicity")) await(player, object, point);
        }
        if (over) finish("reproduced");
    }

    /** A thread is about to access an element of an array. */
    public static void beforeElement(Object array, int index, int point) {
        before(array == null ? null : new Element(array, index), point);
    }

    /** A thread is about to call something with objects; the first is that of the call, or null. */
    public static void beforeCall(Object[] objects, int point) {
        before(new Call(objects), point);
    }

    /** A thread has done what is at a place. */
    public static void after(int point) {
        if (kind.equals("watch")) {
            leave();
            return;
        }
        boolean over = false;
        synchronized (LOCK) {
            Player player = PLAYERS.get(Thread.currentThread());
            if (player == null || player.current == null || player.current.point != point) return;
            player.current = null;
            done++;
            best = Math.max(best, done);
            moved = System.currentTimeMillis();
            over = done == accesses;
            LOCK.notifyAll();
        }
        if (over) finish("reproduced");
    }

    private static boolean mayBe(int slot) {
        return MAINS.contains(slot) == (Thread.currentThread().getId() == 1);
    }

    /** How long a thread is held at a place: long at first, and seldom when it comes again and again. */
    private static long patience(Player player, int point) {
        int visits = player.visits.merge(point, 1, Integer::sum);
        if (visits <= 3) return hold;
        return ThreadLocalRandom.current().nextInt(8) == 0 ? hold / 4 : 1;
    }

    // Two accesses, or as many acquisitions as there are threads, at the same moment.

    private static boolean meet(Player player, Object object, int point) {
        boolean mine = false;
        for (Step step : STEPS) mine |= step.point == point && mayBe(step.slot);
        if (!mine) return false;
        Waiting own = new Waiting(object, point);
        HELD.add(own);
        best = Math.max(best, Math.min(HELD.size(), STEPS.size()));
        try {
            List<Waiting> met = new ArrayList<>();
            if (complete(0, met)) {
                if (kind.equals("race")) return true;
                for (Waiting one : met) {
                    MET.add(one.thread.getId());
                    one.met = true;
                }
                LOCK.notifyAll();
                return false;
            }
            long end = System.currentTimeMillis() + patience(player, point);
            while (!own.met) {
                long left = end - System.currentTimeMillis();
                if (left <= 0) break;
                try {
                    LOCK.wait(left);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    break;
                }
            }
            return false;
        } finally {
            HELD.remove(own);
        }
    }

    /** Whether an access is about to fail, because there is no object. */
    private static boolean isNowhere(Step step, Object object) {
        return object == null && !step.owner.startsWith("static");
    }

    /** Whether the threads that are held can be those of the steps from a number on. */
    private static boolean complete(int number, List<Waiting> chosen) {
        if (number == STEPS.size()) return true;
        Step step = STEPS.get(number);
        for (Waiting one : HELD) {
            boolean other = one.point != step.point || chosen.contains(one) || one.met
                || MAINS.contains(step.slot) != (one.thread.getId() == 1);
            if (kind.equals("race")) {
                other |= isNowhere(step, one.object);
                if (!chosen.isEmpty()) other |= !isSame(chosen.get(0).object, one.object);
            }
            if (other) continue;
            chosen.add(one);
            if (complete(number + 1, chosen)) return true;
            chosen.remove(one);
        }
        return false;
    }

    // Accesses one after the other.

    private static void await(Player player, Object object, int point) {
        if (done > 0 && System.currentTimeMillis() - moved > 2 * hold) again();
        Step step = next(player, object, point);
        if (step == null) return;
        int now = round;
        long end = System.currentTimeMillis() + patience(player, point);
        while (done < step.needs && round == now) {
            long left = end - System.currentTimeMillis();
            if (left <= 0) {
                again();
                return;
            }
            try {
                LOCK.wait(left);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                again();
                return;
            }
        }
        if (round != now || !step.access) return;
        if (done != step.needs || !isOf(step, player, object)) {
            again();
            return;
        }
        player.current = step;
    }

    /** Whether the access is of the object and in the unit that the schedule says. */
    private static boolean isOf(Step step, Player player, Object object) {
        if (isNowhere(step, object)) return false;
        if (OWNERS.containsKey(step.owner)) {
            if (!isSame(OWNERS.get(step.owner), object)) return false;
        } else {
            OWNERS.put(step.owner, object);
        }
        String unit = step.slot + " " + step.unit;
        Integer known = EPOCHS.putIfAbsent(unit, player.epoch);
        return step.unit == 0 || known == null || known == player.epoch;
    }

    /** The step that a thread takes at a place, if it takes one. */
    private static Step next(Player player, Object object, int point) {
        if (player.slot >= 0 && bound[player.slot] != Thread.currentThread()) player.slot = -1;
        if (player.slot >= 0) return take(player, player.slot, player.position, object, point);
        Step waits = null;
        int chosen = -1;
        for (int slot = 0; slot < bound.length; slot++) {
            if (bound[slot] != null || !mayBe(slot)) continue;
            Step step = find(slot, 0, object, point);
            if (step == null || waits != null && step.needs > done) continue;
            waits = step;
            chosen = slot;
            if (step.needs <= done) break;
        }
        if (waits == null) return null;
        bound[chosen] = Thread.currentThread();
        player.slot = chosen;
        return take(player, chosen, 0, object, point);
    }

    private static Step take(Player player, int slot, int from, Object object, int point) {
        Step step = find(slot, from, object, point);
        if (step != null) player.position = STEPS.indexOf(step) + 1;
        return step;
    }

    /** The next step of a thread at a place; acquisitions may be left out on the way, accesses may not. */
    private static Step find(int slot, int from, Object object, int point) {
        for (int at = from; at < STEPS.size(); at++) {
            Step step = STEPS.get(at);
            if (step.slot != slot) continue;
            if (step.point == point) {
                boolean other = step.access && OWNERS.containsKey(step.owner)
                    && !isSame(OWNERS.get(step.owner), object);
                return other ? null : step;
            }
            if (step.access) return null;
        }
        return null;
    }

    /** Nobody has taken a step yet. */
    private static void again() {
        round++;
        done = 0;
        Arrays.fill(bound, null);
        OWNERS.clear();
        EPOCHS.clear();
        for (Player player : PLAYERS.values()) {
            player.slot = -1;
            player.position = 0;
            player.current = null;
        }
        moved = System.currentTimeMillis();
        LOCK.notifyAll();
    }

    // Without a schedule.

    private static void pause() {
        int number = ThreadLocalRandom.current().nextInt(24);
        if (number < 4) Thread.yield();
        if (number == 4) java.util.concurrent.locks.LockSupport.parkNanos(50_000);
    }

    /** A unit begins, if none is open. */
    private static void begin() {
        int[] own = UNIT.get();
        if (own[0]++ > 0) return;
        synchronized (LOCK) {
            own[1] = ++units;
        }
        pause();
    }

    /** Compares an access with those of other units of the object: each of two units has to come first. */
    private static void compare(Object object, Access own) {
        List<Access> all = ACCESSES.computeIfAbsent(object, one -> new ArrayList<>());
        if (all.size() >= COMPARED) return;
        for (Access one : all) {
            boolean apart = one.thread == own.thread || !one.field.equals(own.field) || !(one.writes || own.writes);
            if (apart) continue;
            ORDER.add((long) one.unit << 32 | own.unit);
            if (ORDER.contains((long) own.unit << 32 | one.unit)) {
                OBSERVED.add("atomicity " + Math.min(one.point, own.point) + " " + Math.max(one.point, own.point));
            }
        }
        all.add(own);
    }

    private static void enter(Object object, int point) {
        pause();
        synchronized (LOCK) {
            // An access that has failed is over.
            HELD.removeIf(one -> one.thread == Thread.currentThread());
            Waiting own = new Waiting(object, point);
            String[] mine = WATCHED.get(point).split(" ");
            for (Waiting one : HELD) {
                String[] other = WATCHED.get(one.point).split(" ");
                boolean writes = mine[0].equals("write") || other[0].equals("write");
                boolean same = one.object == object && mine[1].equals(other[1]);
                if (writes && same && one.thread != own.thread) {
                    OBSERVED.add("race " + Math.min(point, one.point) + " " + Math.max(point, one.point));
                }
            }
            HELD.add(own);
            int[] unit = UNIT.get();
            if (unit[0] > 0 && object != null) {
                compare(object, new Access(point, unit[1], mine[0].equals("write"), mine[1]));
            }
        }
        pause();
    }

    private static void leave() {
        synchronized (LOCK) {
            HELD.removeIf(one -> one.thread == Thread.currentThread());
        }
    }
}
