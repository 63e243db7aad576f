/*
 * incident: Attachments are closed by finalizers that take 2 ms each, and more of them are made than one thread can close.
 * names: slow-finalizer Attachment.finalize
 * flags: -Xmx128m -Xmn4m
 * jfr: jdk.FinalizerStatistics Attachment
 */
import incidents.Incident;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;

public final class SlowFinalizer {
    private static final AtomicInteger OPEN = new AtomicInteger();

    static final class Attachment {
        private final byte[] head;

        Attachment(byte[] head) {
            this.head = head;
            OPEN.incrementAndGet();
        }

        int kind() {
            return head[0] & 15;
        }

        @Override
        protected void finalize() throws Throwable {
            flush();
            OPEN.decrementAndGet();
            super.finalize();
        }

        private void flush() throws InterruptedException {
            Thread.sleep(2);
        }
    }

    private final int[] kinds = new int[16];

    private void receive() {
        byte[] mail = new byte[16_000];
        ThreadLocalRandom.current().nextBytes(mail);
        kinds[new Attachment(java.util.Arrays.copyOf(mail, 64)).kind()]++;
    }

    private void poll() {
        try {
            while (true) {
                for (int i = 0; i < 5; i++) {
                    receive();
                }
                Thread.sleep(10);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws Exception {
        new Thread(new SlowFinalizer()::poll, "mailbox").start();
        Thread.sleep(1500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
