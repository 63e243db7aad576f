/*
 * incident: The code cache is far too small for the methods that are hot, so that compiled code is thrown away and made again all the time.
 * names: cpu-jit|jit-code-unloading|jit-failures|jit-recompilation *
 * flags: -XX:ReservedCodeCacheSize=3m -Xmx256m
 * load: cpu
 * jfr: none
 */
import incidents.Incident;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongUnaryOperator;

public final class CodeCacheFull {
    private static final String TEMPLATE = "CodeCacheFull$Query100";

    /** A query as a generator makes it; there are hundreds like it under other names. */
    public static final class Query100 implements LongUnaryOperator {
        @Override
        public long applyAsLong(long row) {
            return filter(row) ? aggregate(project(row)) : project(row + 1);
        }

        private static boolean filter(long row) {
            return (row & 7) != 3 && row % 11 != 5 || row % 13 == 1;
        }

        private static long project(long row) {
            long value = row;
            for (int i = 0; i < 24; i++) {
                value = (i & 1) == 0 ? value * 31 + i : value ^ value >>> 7;
            }
            return value;
        }

        private static long aggregate(long value) {
            long[] sums = new long[8];
            for (int i = 0; i < 32; i++) {
                sums[i % 8] += Long.rotateLeft(value, i);
            }
            return sums[0] ^ sums[3] ^ sums[7];
        }
    }

    static final class QueryLoader extends ClassLoader {
        LongUnaryOperator load(String code, int number) throws ReflectiveOperationException {
            String name = "CodeCacheFull$Query" + number;
            byte[] bytes = code.replace(TEMPLATE, name).getBytes(StandardCharsets.ISO_8859_1);
            return (LongUnaryOperator) defineClass(name, bytes, 0, bytes.length).getConstructor().newInstance();
        }
    }

    private static volatile long checksum;

    private static List<LongUnaryOperator> queries() throws IOException, ReflectiveOperationException {
        List<LongUnaryOperator> queries = new ArrayList<>();
        try (InputStream in = CodeCacheFull.class.getResourceAsStream(TEMPLATE + ".class")) {
            String code = new String(in.readAllBytes(), StandardCharsets.ISO_8859_1);
            for (int number = 101; number < 900; number++) {
                queries.add(new QueryLoader().load(code, number));
            }
        }
        return queries;
    }

    private static long scan(LongUnaryOperator query) {
        long sum = 0;
        for (int row = 0; row < 3000; row++) {
            sum += query.applyAsLong(row);
        }
        return sum;
    }

    public static void main(String[] args) throws Exception {
        List<LongUnaryOperator> queries = queries();
        new Thread(() -> {
            for (int i = 0; i >= 0; i = (i + 1) % queries.size()) {
                checksum += scan(queries.get(i));
            }
        }, "queries").start();
        Thread.sleep(1500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
