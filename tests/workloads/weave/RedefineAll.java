import java.lang.instrument.ClassDefinition;
import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * An agent: gives every class of the JDK that a file names its woven form, as an agent does that weaves a JVM that runs. The
 * JVM verifies each, and goes on with it: what stands here runs in woven code ever more. Says how many there were.
 */
public final class RedefineAll {
    private static Instrumentation instrumentation;

    public static void premain(String arguments, Instrumentation given) {
        instrumentation = given;
    }

    public static void main(String[] args) throws Exception {
        int verified = 0, refused = 0, unlinked = 0, kept = 0;
        for (String name : Files.readAllLines(Path.of(args[0]))) {
            byte[] woven = Files.readAllBytes(Path.of(args[1], name.replace('.', '/') + ".class"));
            try {
                instrumentation.redefineClasses(new ClassDefinition(Class.forName(name, false, null), woven));
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
        System.out.println("verified " + verified + " refused " + refused + " unlinked " + unlinked + " kept " + kept);
    }
}
