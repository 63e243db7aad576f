/** A class that is loaded again and again, each time with its own state. */
public class Plugin {
    static final byte[] STATE = new byte[4000];
}
