/*
 * incident: Handlers are called by reflection, and the one for refunds fails each time: an InvocationTargetException per event.
 * names: exceptions|exception-rate|method-errors ReflectedFailure
 * load: cpu
 * jfr: jdk.ExecutionSample ReflectedFailure
 */
import incidents.Incident;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.LongAdder;

public final class ReflectedFailure {
    /** What handles events; its methods are found by their names. */
    public static final class Handlers {
        private long booked;

        public void onPayment(long cents) {
            booked += cents;
        }

        public void onRefund(long cents) {
            if (cents > 0) {
                throw new IllegalStateException("refund of " + cents + " without a payment");
            }
            booked -= cents;
        }
    }

    private final Map<String, Method> methods = new HashMap<>();
    private final LongAdder failed = new LongAdder();

    ReflectedFailure() {
        for (Method method : Handlers.class.getDeclaredMethods()) {
            methods.put(method.getName(), method);
        }
    }

    private void dispatch(Handlers handlers, String event, long cents) {
        try {
            methods.get("on" + event).invoke(handlers, cents);
        } catch (InvocationTargetException e) {
            failed.increment();
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }

    private void drain() {
        Handlers handlers = new Handlers();
        for (long i = 1; ; i++) {
            dispatch(handlers, i % 4 == 0 ? "Payment" : "Refund", i);
        }
    }

    public static void main(String[] args) throws Exception {
        ReflectedFailure bus = new ReflectedFailure();
        ExecutorService events = Executors.newFixedThreadPool(2);
        events.execute(bus::drain);
        events.submit(() -> "idle from now on").get();
        Thread.sleep(500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
