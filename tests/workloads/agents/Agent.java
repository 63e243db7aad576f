import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.nio.charset.StandardCharsets;
import java.security.ProtectionDomain;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Other agents in a JVM, each with a name of its own. Each can look at the bytes of a class as they come to it, and can change a text in
 * a class to another one. The JVM asks them before jtrace, which comes later.
 */
public final class Agent {
    static final String PLAIN = "as compiled";
    static final String CHANGED = "as an agent";

    private static final Map<String, Instrumentation> AGENTS = new ConcurrentHashMap<>();

    private Agent() {}

    public static void premain(String name, Instrumentation instrumentation) {
        AGENTS.put(name, instrumentation);
        if (name.equals("loads")) {
            // Only classes that are loaded come here, and never again.
            instrumentation.addTransformer(changing("Subjects$Loaded"), false);
        }
    }

    /** The bytes of a class as they come to an agent. */
    static byte[] bytes(String agent, Class<?> of) throws Exception {
        byte[][] seen = new byte[1][];
        ClassFileTransformer looks =
            new ClassFileTransformer() {
                @Override
                public byte[] transform(
                        ClassLoader loader, String name, Class<?> redefined, ProtectionDomain domain, byte[] bytes) {
                    if (redefined == of) {
                        seen[0] = bytes;
                    }
                    return null;
                }
            };
        Instrumentation instrumentation = AGENTS.get(agent);
        instrumentation.addTransformer(looks, true);
        try {
            instrumentation.retransformClasses(of);
        } finally {
            instrumentation.removeTransformer(looks);
        }
        return seen[0];
    }

    /** Changes the text of a class, from now on. */
    static void change(String agent, Class<?> of) throws Exception {
        AGENTS.get(agent).addTransformer(changing(of.getName()), true);
        AGENTS.get(agent).retransformClasses(of);
    }

    private static ClassFileTransformer changing(String of) {
        return new ClassFileTransformer() {
            @Override
            public byte[] transform(
                    ClassLoader loader, String name, Class<?> redefined, ProtectionDomain domain, byte[] bytes) {
                return of.equals(name) ? replaced(bytes) : null;
            }
        };
    }

    private static byte[] replaced(byte[] bytes) {
        // Bytes as characters, and back; both texts are equally long.
        String text = new String(bytes, StandardCharsets.ISO_8859_1);
        return text.replace(PLAIN, CHANGED).getBytes(StandardCharsets.ISO_8859_1);
    }
}
