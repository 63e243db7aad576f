/*
 * incident: Routes are kept in a map whose keys are lists of thousands of stops, so each lookup computes their hash codes anew.
 * names: cpu-hot-line RouteKeys$Planner.cost
 * load: cpu
 * jfr: jdk.ExecutionSample RouteKeys
 */
import incidents.Incident;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

public final class RouteKeys {
    private static volatile long found;

    static final class Planner {
        private final Map<List<Integer>, Integer> costs = new HashMap<>();
        private final List<List<Integer>> routes = new ArrayList<>();

        Planner() {
            for (int route = 0; route < 50; route++) {
                List<Integer> stops = new ArrayList<>();
                for (int stop = 0; stop < 20_000; stop++) {
                    stops.add(stop * 31 + route);
                }
                routes.add(stops);
                costs.put(stops, route);
            }
        }

        int cost(int route) {
            return costs.get(routes.get(route));
        }
    }

    public static void main(String[] args) throws Exception {
        Planner planner = new Planner();
        Thread requests = new Thread(() -> {
            for (int i = 0; ; i++) {
                found += planner.cost(i % 50);
            }
        }, "requests");
        requests.setDaemon(true);
        requests.start();
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
