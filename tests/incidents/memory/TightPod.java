/*
 * incident: The container's limit is 200 MiB and hardly more than the heap: buffers outside of it take what is left, until the kernel kills the JVM.
 * names: memory-limit 200 MiB
 * memory: 200M
 * flags: -Xms64m -Xmx64m -XX:+AlwaysPreTouch -XX:MaxDirectMemorySize=512m
 * jfr: none
 */
package memory;

import incidents.Incident;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;

public final class TightPod {
    private static final long LIMIT = 200L << 20;
    private static final List<ByteBuffer> PAGES = new ArrayList<>();

    /** What the group has used, by the file of either version. */
    private static long used() throws IOException {
        for (String line : Files.readAllLines(Paths.get("/proc/self/cgroup"))) {
            String[] parts = line.split(":", 3);
            Path old = Paths.get("/sys/fs/cgroup/memory" + parts[2], "memory.usage_in_bytes");
            Path unified = Paths.get("/sys/fs/cgroup" + parts[2], "memory.current");
            if (parts[1].equals("memory") && Files.exists(old)) {
                return Long.parseLong(Files.readAllLines(old).get(0).trim());
            }
            if (parts[1].isEmpty() && Files.exists(unified)) {
                return Long.parseLong(Files.readAllLines(unified).get(0).trim());
            }
        }
        throw new IOException("no control group of memory");
    }

    private static void cache() {
        ByteBuffer page = ByteBuffer.allocateDirect(1 << 20);
        while (page.hasRemaining()) {
            page.put((byte) 1);
        }
        PAGES.add(page);
    }

    public static void main(String[] args) throws Exception {
        while (used() < LIMIT / 100 * 95) {
            cache();
        }
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
