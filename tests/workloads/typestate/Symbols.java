import java.io.BufferedReader;
import java.io.InputStreamReader;

/**
 * Objects that are opened, used so often, and closed, as many as there is time for: {@code Symbols <uses of an object> <milliseconds per
 * GO>}. Prints "expected objects Symbols$Thing 1000".
 */
public final class Symbols {
    static final class Thing {
        long sum;

        void open() {
            sum++;
        }

        void use() {
            sum = sum * 0x5851f42d4c957f2dL + 1;
        }

        void close() {
            sum += 3;
        }
    }

    private static volatile Thing latest;

    public static void main(String[] args) throws Exception {
        int uses = Integer.parseInt(args[0]);
        long ns = Long.parseLong(args[1]) * 1_000_000;
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("READY");
        while (in.readLine() != null) {
            System.out.println("expected objects Symbols$Thing " + make(uses, ns));
            System.out.println("DONE expected=1");
        }
    }

    private static long make(int uses, long ns) {
        long begin = System.nanoTime();
        long objects = 0;
        while (System.nanoTime() - begin < ns) {
            for (int i = 0; i < 100; i++) one(uses);
            objects += 100;
        }
        return objects;
    }

    private static void one(int uses) {
        Thing thing = new Thing();
        latest = thing;
        thing.open();
        for (int i = 0; i < uses; i++) thing.use();
        thing.close();
    }
}
