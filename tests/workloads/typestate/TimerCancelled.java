import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.CountDownLatch;

/** Timers that are cancelled after their task has run, and some that get another one then. */
public final class TimerCancelled {
    private static final int TIMERS = 20;
    private static long refused;

    private TimerCancelled() {}

    public static void main(String[] args) throws Exception {
        Protocol.serve(args, "TimerCancelled", TimerCancelled::good, TimerCancelled::bad);
    }

    private static void good(Protocol protocol) throws InterruptedException {
        for (int i = 0; i < TIMERS; i++) {
            Timer timer = new Timer(true);
            CountDownLatch done = new CountDownLatch(2);
            timer.schedule(task(done), 0);
            timer.scheduleAtFixedRate(task(done), 0, 1000);
            done.await();
            timer.cancel();
            timer.cancel();
        }
    }

    private static void bad(Protocol protocol) {
        for (int i = 0; i < TIMERS; i++) {
            Timer timer = new Timer(true);
            timer.cancel();
            try {
                timer.schedule(task(new CountDownLatch(1)), 0);
                Protocol.unreachable("scheduled");
            } catch (IllegalStateException expected) {
                refused++;
            }
            protocol.illegal(1);
        }
    }

    private static TimerTask task(CountDownLatch done) {
        return new TimerTask() {
            @Override
            public void run() {
                done.countDown();
            }
        };
    }
}
