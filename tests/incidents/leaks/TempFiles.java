/*
 * incident: Each upload calls File.deleteOnExit, which remembers its path until the JVM ends: the set of paths is what grows.
 * names: heap-growth|heap-nearly-full TempFiles
 * flags: -Xmx96m -Xmn8m
 * jfr: jdk.OldObjectSample TempFiles
 */
import incidents.Incident;
import java.io.File;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

public final class TempFiles {
    private static final String PADDING = "attachment-of-a-message-with-a-long-subject-".repeat(20);

    private long uploads;

    private int receive(String name) {
        File file = new File("/nowhere/uploads", name);
        file.deleteOnExit();
        byte[] body = new byte[32 * 1024];
        for (int i = 0; i < body.length; i++) {
            body[i] = (byte) (name.length() + i);
        }
        return body[name.hashCode() & 1023];
    }

    private void burst() {
        for (int i = 0; i < 40; i++) {
            uploads += receive(PADDING + uploads) & 1 | 1;
        }
    }

    public static void main(String[] args) throws Exception {
        TempFiles mail = new TempFiles();
        Executors.newSingleThreadScheduledExecutor().scheduleAtFixedRate(mail::burst, 0, 20, TimeUnit.MILLISECONDS);
        Thread.sleep(500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
