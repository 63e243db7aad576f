import java.lang.instrument.ClassDefinition;
import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * An agent: gives every class of the JDK that a file names its woven form, as an agent does that weaves a JVM that runs. The
 * JVM verifies each, and goes on with it: what stands here runs in woven code ever more. Says how many there were.
 */
public final class RedefineAll {
    private static Instrumentation instrumentation;
    private static int verified, refused, unlinked, kept;

    public static void premain(String arguments, Instrumentation given) {
        instrumentation = given;
    }

    public static void main(String[] args) throws Exception {
        List<String> names = Files.readAllLines(Path.of(args[0]));
        // Many at a time: the JVM stands still for each time. Where one of them is refused, each by itself.
        for (int from = 0; from < names.size(); from += 100) {
            List<String> some = names.subList(from, Math.min(names.size(), from + 100));
            try {
                ClassDefinition[] definitions = new ClassDefinition[some.size()];
                for (int i = 0; i < definitions.length; i++) {
                    definitions[i] = definition(some.get(i), args[1]);
                }
                instrumentation.redefineClasses(definitions);
                verified += definitions.length;
            } catch (Throwable error) {
                for (String name : some) {
                    redefine(name, args[1]);
                }
            }
        }
        System.out.println("verified " + verified + " refused " + refused + " unlinked " + unlinked + " kept " + kept);
    }

    private static ClassDefinition definition(String name, String directory) throws Exception {
        byte[] woven = Files.readAllBytes(Path.of(directory, name.replace('.', '/') + ".class"));
        return new ClassDefinition(Class.forName(name, false, null), woven);
    }

    private static void redefine(String name, String directory) {
        try {
            instrumentation.redefineClasses(definition(name, directory));
            verified++;
        } catch (VerifyError | ClassFormatError error) {
            refused++;
            System.out.println("refused " + name + ": " + error);
        } catch (UnmodifiableClassException error) {
            kept++;
            System.out.println("kept " + name + ": " + error);
        } catch (Throwable error) {
            unlinked++;
            System.out.println("unlinked " + name + ": " + error);
        }
    }
}
