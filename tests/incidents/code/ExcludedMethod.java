/*
 * incident: A workaround for a bug of an old JDK excludes the hottest method from compilation, and nobody has taken it out since.
 * names: not-compiled ExcludedMethod.score
 * flags: -XX:CompileCommand=exclude,ExcludedMethod::score
 * load: cpu
 * jfr: none
 */
import incidents.Incident;
import java.util.Random;

public final class ExcludedMethod {
    private final int[] words = new int[4000];
    private long documents;

    private ExcludedMethod() {
        Random random = new Random(5);
        for (int i = 0; i < words.length; i++) {
            words[i] = random.nextInt(50_000);
        }
    }

    private int score(int query) {
        int score = 0;
        for (int i = 0; i < words.length; i++) {
            int distance = words[i] ^ query;
            score += (distance & 7) == 0 ? 3 : distance % 5;
        }
        return score;
    }

    private int rank(int query) {
        int best = 0;
        for (int page = 0; page < 10; page++) {
            best = Math.max(best, score(query + page));
        }
        return best;
    }

    private void search() {
        while (documents >= 0) {
            documents += rank((int) documents & 0xffff) > 0 ? 1 : 2;
        }
    }

    public static void main(String[] args) throws Exception {
        new Thread(new ExcludedMethod()::search, "search").start();
        Thread.sleep(1500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
