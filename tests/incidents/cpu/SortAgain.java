/*
 * incident: The list of best scores is sorted anew after each score that comes in.
 * names: cpu-hot-line|cpu-hot-method Board.insert
 * load: cpu
 * jfr: jdk.ExecutionSample SortAgain
 */
import incidents.Incident;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

public final class SortAgain {
    static final class Score {
        private final String player;
        private final int points;

        Score(String player, int points) {
            this.player = player;
            this.points = points;
        }
    }

    /** The best scores of today, best first. */
    static final class Board {
        private final List<Score> scores = new ArrayList<>();

        void insert(Score score) {
            scores.add(score);
            scores.sort(Comparator.comparingInt((Score each) -> -each.points).thenComparing(each -> each.player));
            if (scores.size() > 8000) {
                scores.remove(scores.size() - 1);
            }
        }
    }

    private static void play(Board board) {
        Random random = new Random(7);
        for (int i = 0; ; i++) {
            board.insert(new Score("p" + i % 300, random.nextInt(1_000_000)));
        }
    }

    public static void main(String[] args) throws Exception {
        ThreadPoolExecutor pool = new ThreadPoolExecutor(3, 3, 1, TimeUnit.MINUTES, new LinkedBlockingQueue<>());
        pool.prestartAllCoreThreads();
        pool.execute(() -> play(new Board()));
        Thread.sleep(1000);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
