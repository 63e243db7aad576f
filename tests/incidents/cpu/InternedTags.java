/*
 * incident: Each event interns a text that was never there before, so the JVM's table of strings grows and is searched all the time.
 * names: cpu-hot-line InternedTags$Tagger.tag
 * load: cpu
 * jfr: jdk.ExecutionSample InternedTags
 */
import incidents.Incident;

public final class InternedTags {
    private static volatile Object last;

    static final class Tagger {
        private long events;

        String tag() {
            return ("user:" + (events++ * 2654435761L) + "/session").intern();
        }
    }

    private static void ingest() {
        Tagger tagger = new Tagger();
        while (!Thread.currentThread().isInterrupted()) {
            last = tagger.tag();
        }
    }

    public static void main(String[] args) throws Exception {
        Thread ingest = new Thread(InternedTags::ingest, "ingest");
        ingest.setDaemon(true);
        ingest.start();
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
