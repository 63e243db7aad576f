/*
 * incident: Common friends are found by asking one long list for each member of another one.
 * names: list-search|cpu-hot-line FriendLists.common
 * load: cpu
 * jfr: jdk.ExecutionSample FriendLists.common
 */
package cpu;

import incidents.Incident;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.stream.Collectors;

public final class FriendLists {
    private final Map<Integer, List<Long>> friends = new HashMap<>();

    FriendLists(int people, int each) {
        Random random = new Random(11);
        for (int person = 0; person < people; person++) {
            List<Long> list = new ArrayList<>();
            for (int i = 0; i < each; i++) {
                list.add(1000L + random.nextInt(each * 20));
            }
            friends.put(person, list);
        }
    }

    List<Long> common(int a, int b) {
        List<Long> ofB = friends.get(b);
        return friends.get(a).stream().filter(ofB::contains).collect(Collectors.toList());
    }

    private int suggest(int person) {
        int best = -1;
        int most = -1;
        for (int other : friends.keySet()) {
            int common = other == person ? 0 : common(person, other).size();
            if (common > most) {
                most = common;
                best = other;
            }
        }
        return best;
    }

    private void answer(BlockingQueue<Integer> requests) {
        try {
            while (true) {
                suggest(requests.take());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws Exception {
        FriendLists lists = new FriendLists(60, 4000);
        BlockingQueue<Integer> requests = new ArrayBlockingQueue<>(4);
        new Thread(() -> lists.answer(requests), "suggestions").start();
        new Thread(() -> {
            try {
                for (int person = 0; ; person = (person + 1) % 60) {
                    requests.put(person);
                    Thread.sleep(400);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }, "visitors").start();
        Thread.sleep(1500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
