/*
 * incident: Rules are loaded anew each 400 ms, and the optimising compiler gives their large method up each time: it has no room for it.
 * names: jit-failures|not-compiled|jit-recompilation Rules.score
 * flags: -XX:MaxNodeLimit=1600 -XX:NodeLimitFudgeFactor=320
 * load: cpu
 * jfr: jdk.CompilationFailure out of nodes
 */
package code;

import incidents.Incident;
import java.io.InputStream;
import java.util.function.LongUnaryOperator;

public final class RuleReload {
    /** What a tool has made of a spreadsheet. */
    public static final class Rules implements LongUnaryOperator {
        @Override
        public long applyAsLong(long seed) {
            return score(seed, new long[16]);
        }

        private static long score(long seed, long[] cells) {
            long sum = seed;
            for (int i = 0; i < 200; i++) {
                for (int row = 0; row < 16; row++) {
                    cells[row] = mix(cells[row] + sum, row) ^ mix(sum, i) + mix(cells[15 - row], 7);
                }
                sum += mix(mix(cells[i & 15], 3), mix(sum, 5)) + cells[3] / 7 + cells[9] % 11 + cells[11] / 13;
                sum ^= mix(mix(cells[i + 5 & 15], 6), mix(sum, 8)) + cells[4] / 17 + cells[8] % 19 + cells[12] / 23;
            }
            return sum;
        }

        private static long mix(long a, long b) {
            long c = (a ^ b) * 0x9e3779b97f4a7c15L;
            c ^= c >>> 29;
            c = Long.rotateLeft(c, (int) (a & 31)) + (b << 3);
            return c % 1_000_003 + c / 977;
        }
    }

    /** Keeps to itself what it loads. */
    private static final class RuleLoader extends ClassLoader {
        LongUnaryOperator load(byte[] code) throws ReflectiveOperationException {
            Class<?> rules = defineClass(Rules.class.getName(), code, 0, code.length);
            return (LongUnaryOperator) rules.getDeclaredConstructor().newInstance();
        }
    }

    private static long evaluate(LongUnaryOperator rules, long millis) {
        long sum = 0;
        for (long end = System.currentTimeMillis() + millis; System.currentTimeMillis() < end; ) {
            for (int i = 0; i < 20; i++) {
                sum ^= rules.applyAsLong(i);
            }
        }
        return sum;
    }

    private static void run(byte[] code) {
        try {
            for (long sum = 0; sum != 1; ) {
                sum += evaluate(new RuleLoader().load(code), 400);
            }
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] args) throws Exception {
        byte[] code;
        try (InputStream in = RuleReload.class.getResourceAsStream("RuleReload$Rules.class")) {
            code = in.readAllBytes();
        }
        Thread engine = new Thread(() -> run(code), "rule-engine");
        engine.setDaemon(true);
        engine.start();
        Thread.sleep(2000);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
