/*
 * incident: The loop of main puts each document that it reads into a map of its own, and takes none out.
 * names: collection-grows|heap-growth NightIndex.main
 * flags: -Xmx300m
 */
package leaks;

import incidents.Incident;
import java.util.HashMap;
import java.util.Map;

public final class NightIndex {
    private static String read(int number) {
        return "document " + number;
    }

    public static void main(String[] args) throws InterruptedException {
        Map<Integer, String> index = new HashMap<>();
        for (int number = 0;; number++) {
            index.put(number, read(number));
            if (number == 200) {
                Incident.ready();
            }
            Thread.sleep(3);
        }
    }
}
