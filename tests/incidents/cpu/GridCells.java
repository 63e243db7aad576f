/*
 * incident: Cells of a map hash to x ^ y, so that the 5000 on each diagonal share a bucket of the set of visited ones.
 * names: hash-collisions|cpu-hot-line|cpu-hot-method PathFinder.|Cell.
 * load: cpu
 * jfr: jdk.ExecutionSample PathFinder
 */
package games.atlas.path;

import incidents.Incident;
import java.util.HashSet;
import java.util.Set;

public final class GridCells {
    static final class Cell {
        final int x;
        final int y;

        Cell(int x, int y) {
            this.x = x;
            this.y = y;
        }

        @Override
        public int hashCode() {
            return x ^ y;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Cell && ((Cell) other).x == x && ((Cell) other).y == y;
        }
    }

    static final class PathFinder {
        int walk(int length) {
            Set<Cell> visited = new HashSet<>();
            int again = 0;
            for (int i = 0; i < length; i++) {
                // Both coordinates run together for most of the way.
                again += visited.add(new Cell(i, i ^ (i & 1))) ? 0 : 1;
            }
            return again;
        }
    }

    public static void main(String[] args) throws Exception {
        PathFinder finder = new PathFinder();
        Incident.start("game-loop", () -> {
            int again = 0;
            while (again >= 0) {
                again += finder.walk(5000);
            }
        });
        Thread.sleep(2000);
        Incident.readyUntilTheEnd();
    }
}
