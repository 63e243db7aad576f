import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Scanner;
import java.util.concurrent.ConcurrentHashMap;

/** Sessions that nobody ends, beside a map that stands still and a list that is emptied again and again. */
public class Grower {
    static class Sessions {
        static final Map<Integer, String> OPEN = new ConcurrentHashMap<>();

        static void open(int id) {
            OPEN.put(id, "guest");
        }
    }

    static final Map<Integer, String> COUNTRIES = new HashMap<>();
    static final List<Integer> BATCH = new ArrayList<>();

    static void serve() {
        try {
            for (int id = 0;; id++) {
                Sessions.open(id);
                BATCH.add(id);
                if (BATCH.size() == 15) {
                    BATCH.clear();
                }
                Thread.sleep(2);
            }
        } catch (InterruptedException interrupted) {
            throw new AssertionError(interrupted);
        }
    }

    public static void main(String[] args) {
        for (int i = 0; i < 1000; i++) {
            COUNTRIES.put(i, "here");
        }
        Thread server = new Thread(Grower::serve, "server");
        server.setDaemon(true);
        server.start();
        System.out.println("READY");
        Scanner in = new Scanner(System.in);
        while (in.hasNextLine()) {
            in.nextLine();
            System.out.println("DONE");
        }
    }
}
