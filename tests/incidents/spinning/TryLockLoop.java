/*
 * incident: Writers try a lock in a loop without a pause while the backup holds it for seconds.
 * names: spinning|cpu-hot-line|cpu-hot-method TryLockLoop.append
 * load: cpu
 * jfr: jdk.ExecutionSample TryLockLoop.append
 */
import incidents.Incident;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

public final class TryLockLoop {
    private final Lock journalLock = new ReentrantLock();
    private final Deque<String> journal = new ArrayDeque<>();

    private void append(String line) {
        while (!journalLock.tryLock()) {
            // Someone else is writing.
        }
        try {
            journal.addLast(line);
            if (journal.size() > 1000) {
                journal.removeFirst();
            }
        } finally {
            journalLock.unlock();
        }
    }

    private void backup() {
        try {
            while (true) {
                journalLock.lock();
                try {
                    Thread.sleep(3000);
                } finally {
                    journalLock.unlock();
                }
                Thread.sleep(30);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void write() {
        try {
            for (int i = 0; ; i++) {
                append("line " + i);
                Thread.sleep(5);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws Exception {
        TryLockLoop log = new TryLockLoop();
        new Thread(log::backup, "backup").start();
        Thread.sleep(200);
        new Thread(log::write, "writer").start();
        Thread.sleep(300);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
