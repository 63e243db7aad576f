/*
 * incident: The logger's pattern has the line of the caller, so each statement walks the stack, on a stack that is 300 frames deep.
 * names: cpu-hot-line|cpu-hot-method|exceptions|exception-rate CallerLocation
 * load: cpu
 * jfr: jdk.ExecutionSample CallerLocation
 */
import incidents.Incident;
import java.util.concurrent.atomic.AtomicLong;

public final class CallerLocation {
    static final class Logger {
        private final AtomicLong written = new AtomicLong();
        private int level = 2;

        void info(String message) {
            StackTraceElement caller = new Throwable().getStackTrace()[1];
            if (level > 1) {
                written.addAndGet(message.length() + caller.getLineNumber());
            }
        }
    }

    private final Logger log = new Logger();
    private long handled;

    private int filter(int depth, int request) {
        if (depth == 0) {
            log.info("request " + request);
            return handle(request);
        }
        return filter(depth - 1, request) + 1;
    }

    private int handle(int request) {
        int sum = 0;
        for (int i = 0; i < 3000; i++) {
            sum += (request ^ i) % 7;
        }
        return sum;
    }

    private void serve() {
        while (handled >= 0) {
            handled += filter(300, (int) handled & 0xffff) % 3 + 1;
        }
    }

    public static void main(String[] args) throws Exception {
        new Thread(new CallerLocation()::serve, "http-1").start();
        Thread.sleep(1500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
