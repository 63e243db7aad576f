/** The file of the Marker Tracing Framework's micro-tests. It holds numbers; nothing is opened. */
public class File {
    private final int length;
    private int at;

    File(int length) {
        this.length = length;
    }

    public void open(String name) {
        at = name.length() - name.length();
    }

    public int read() {
        return at++;
    }

    public void write(int value) {
        at += value - value + 1;
    }

    public boolean eof() {
        return at >= length;
    }

    public void close() {
        at = 0;
    }
}
