import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.zip.CRC32;

/**
 * A program with other agents in it. For each line on stdin it does what that says, then prints DONE with numbers:
 *
 * <ul>
 *   <li>GO: calls the methods of {@link Subjects}, and tells how often, and which texts agents have changed.
 *   <li>SPIN ms: calls those of {@link Spinning} for so long, and tells how often it called what is called now and then.
 *   <li>BYTES agent: checksums of the classes' bytes as they come to that agent; "behind" is one that all others come before.
 *   <li>CODE: checksums of the instructions that the JVM runs, without indices of constants.
 *   <li>CHANGE agent: that agent changes the text of another class.
 * </ul>
 */
public final class Visited {
    private static final int ROUNDS = 300;
    private static long sink;

    private Visited() {}

    private static native byte[] code(Class<?> of);

    private static native byte[] bytes(Class<?> of);

    public static void main(String[] args) throws Exception {
        System.load(args[0]);
        Class<?>[] classes = {
            Subjects.Loaded.class,
            Subjects.Before.class,
            Subjects.During.class,
            Subjects.Colour.class,
            Subjects.Weighs.class,
            Subjects.Mixed.class,
            Class.forName("java.util.ArrayList$Itr"),
            Spinning.Only.class,
            Spinning.Both.class,
            Spinning.Cool.class,
        };
        Agent.change("first", Subjects.Before.class);
        work();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("READY");
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split(" ");
            StringBuilder done = new StringBuilder("DONE");
            switch (words[0]) {
                case "GO":
                    work();
                    System.out.println("expected calls Subjects$Loaded.text " + ROUNDS);
                    System.out.println("expected calls Subjects$Before.text " + ROUNDS);
                    System.out.println("expected calls Subjects$During.text " + ROUNDS);
                    System.out.println("expected calls Subjects$Mixed.weigh " + 2 * ROUNDS);
                    System.out.println("expected calls Subjects$Weighs.twice " + ROUNDS);
                    System.out.println("expected calls Subjects$Colour.weight " + 2 * ROUNDS);
                    System.out.println("expected calls java.util.ArrayList$Itr.next " + 3 * ROUNDS);
                    done.append(" loaded=").append(changed(Subjects.Loaded.text()));
                    done.append(" before=").append(changed(Subjects.Before.text()));
                    done.append(" during=").append(changed(Subjects.During.text()));
                    break;
                case "SPIN":
                    long batches = Spinning.spin(Long.parseLong(words[1]) * 1_000_000);
                    System.out.println("expected calls Spinning$Both.cool " + batches);
                    System.out.println("expected calls Spinning$Cool.cool " + batches);
                    break;
                case "BYTES":
                    for (Class<?> of : classes) {
                        done.append(' ').append(of.getName()).append('=').append(sum(bytes(words[1], of)));
                    }
                    break;
                case "CODE":
                    for (Class<?> of : classes) {
                        done.append(' ').append(of.getName()).append('=').append(sum(code(of)));
                    }
                    break;
                case "CHANGE":
                    Agent.change(words[1], Subjects.During.class);
                    break;
                default:
                    throw new IllegalArgumentException(line);
            }
            System.out.println(done);
        }
    }

    private static byte[] bytes(String agent, Class<?> of) throws Exception {
        return agent.equals("behind") ? bytes(of) : Agent.bytes(agent, of);
    }

    private static void work() {
        Subjects.Mixed<Integer> mixed = new Subjects.Mixed<>();
        Subjects.Weighs by = Subjects.Weighs.by(3);
        for (int i = 0; i < ROUNDS; i++) {
            sink += mixed.twice(i) + mixed.largest(i, 2, 3) + by.weigh(i);
            for (Subjects.Colour colour : Subjects.Colour.values()) {
                sink += colour.weight(i);
            }
            // The last of them is asked again when the texts are told.
            if (i > 0) {
                sink += (Subjects.Loaded.text() + Subjects.Before.text() + Subjects.During.text()).length();
            }
        }
    }

    private static int changed(String text) {
        return text.equals("as an agent") ? 1 : 0;
    }

    private static long sum(byte[] bytes) {
        CRC32 sum = new CRC32();
        sum.update(bytes);
        return sum.getValue();
    }
}
