/*
 * healthy: Five requests a second have wrong input and are refused by an exception; forty are fine.
 */
import incidents.Incident;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

public final class SomeExceptions {
    private int accepted;
    private int refused;

    private static int age(String input) {
        int age = Integer.parseInt(input);
        if (age < 0 || age > 130) {
            throw new IllegalArgumentException("age " + age);
        }
        return age;
    }

    private void register(String input) {
        try {
            accepted += age(input) > 17 ? 1 : 0;
        } catch (IllegalArgumentException e) {
            refused++;
        }
    }

    private void second() {
        for (int i = 0; i < 8; i++) {
            register(String.valueOf(18 + i));
        }
        register(refused % 2 == 0 ? "999" : "unknown");
    }

    public static void main(String[] args) throws Exception {
        SomeExceptions form = new SomeExceptions();
        ScheduledExecutorService users = Executors.newScheduledThreadPool(2);
        users.scheduleAtFixedRate(form::second, 0, 200, TimeUnit.MILLISECONDS);
        Thread.sleep(500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
