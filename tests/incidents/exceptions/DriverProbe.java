/*
 * incident: For each message the codec is looked for by class name, the best one first, which is not there: a ClassNotFoundException each time.
 * names: exceptions|cpu-hot-line Codecs.find
 * load: cpu
 * jfr: jdk.ExecutionSample Codecs.find
 */
package exceptions;

import incidents.Incident;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

public final class DriverProbe {
    interface Codec {
        int encode(String message);
    }

    public static final class PlainCodec implements Codec {
        @Override
        public int encode(String message) {
            return message.length() * 31;
        }
    }

    /** Takes the first that is installed. */
    static final class Codecs {
        private static final List<String> KNOWN =
            List.of("com.acme.codec.NativeCodec", "com.acme.codec.SimdCodec", "exceptions.DriverProbe$PlainCodec");

        static Codec find() {
            for (String name : KNOWN) {
                try {
                    return (Codec) Class.forName(name).getDeclaredConstructor().newInstance();
                } catch (ReflectiveOperationException e) {
                    // Not installed: the next one will do.
                }
            }
            throw new IllegalStateException("no codec");
        }
    }

    private final AtomicLong sent = new AtomicLong();

    private void send(String message) {
        sent.addAndGet(Codecs.find().encode(message));
    }

    private void sendAll() {
        for (int i = 0; ; i++) {
            send("message " + i);
        }
    }

    public static void main(String[] args) throws Exception {
        DriverProbe probe = new DriverProbe();
        Thread sender = new Thread(probe::sendAll, "sender");
        sender.setDaemon(true);
        sender.start();
        Executors.newScheduledThreadPool(1).scheduleAtFixedRate(probe.sent::get, 1, 1, TimeUnit.SECONDS);
        Thread.sleep(1500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
