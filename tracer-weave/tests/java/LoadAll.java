import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Loads and verifies every class that a file names, line by line; says how many there were and what the verifier had against
 * the others. Classes that cannot be linked for want of another class are told apart.
 */
public final class LoadAll {
    public static void main(String[] args) throws Exception {
        int verified = 0, refused = 0, unlinked = 0;
        for (String name : Files.readAllLines(Path.of(args[0]))) {
            try {
                Class<?> loaded = Class.forName(name, false, LoadAll.class.getClassLoader());
                // HotSpot links, and so verifies, a class before it lists its constructors; it does not initialise it.
                loaded.getDeclaredConstructors();
                verified++;
            } catch (VerifyError | ClassFormatError error) {
                refused++;
                System.out.println("refused " + name + ": " + error);
            } catch (Throwable error) {
                unlinked++;
                System.out.println("unlinked " + name + ": " + error);
            }
        }
        System.out.println("verified " + verified + " refused " + refused + " unlinked " + unlinked);
    }
}
