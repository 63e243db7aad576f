/*
 * incident: Every record of the feed has an empty quantity, which is parsed as a number and caught as a NumberFormatException.
 * names: exceptions NumberParsing.quantity
 * load: cpu
 * jfr: jdk.ExecutionSample NumberParsing
 */
import incidents.Incident;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

public final class NumberParsing {
    private static final int DEFAULT = 1;

    static final class Position {
        private final String article;
        private final int quantity;

        Position(String article, int quantity) {
            this.article = article;
            this.quantity = quantity;
        }

        int weight() {
            return quantity * article.length();
        }
    }

    private static Position parse(String line) {
        int semicolon = line.indexOf(';');
        return new Position(line.substring(0, semicolon), quantity(line.substring(semicolon + 1)));
    }

    private static int quantity(String field) {
        try {
            return Integer.parseInt(field);
        } catch (NumberFormatException e) {
            return DEFAULT;
        }
    }

    private static void importFeed() {
        Deque<Position> last = new ArrayDeque<>();
        long weight = 0;
        for (int i = 0; ; i++) {
            Position position = parse("A-" + i % 1000 + ";");
            weight += position.weight();
            last.add(position);
            if (last.size() > 100) {
                weight -= last.remove().weight();
            }
        }
    }

    public static void main(String[] args) throws Exception {
        BlockingQueue<String> mails = new LinkedBlockingQueue<>();
        Thread mailer = new Thread(() -> {
            try {
                while (!mails.take().isEmpty()) {
                    // There are none today.
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }, "mailer");
        mailer.start();
        new Thread(NumberParsing::importFeed, "feed").start();
        Thread.sleep(500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
