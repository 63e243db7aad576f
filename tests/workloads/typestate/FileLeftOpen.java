import java.io.File;
import java.io.FileInputStream;
import java.io.FileNotFoundException;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;

/** Files that are closed, in all ways there are, and files that nobody closes. */
public final class FileLeftOpen {
    private static long sum;

    private FileLeftOpen() {}

    public static void main(String[] args) throws Exception {
        Protocol.serve(args, "FileLeftOpen", FileLeftOpen::good, FileLeftOpen::bad);
    }

    private static void good(Protocol protocol) throws IOException {
        File file = file();
        for (int i = 0; i < Protocol.OBJECTS; i++) {
            try (FileOutputStream out = new FileOutputStream(file)) {
                out.write(1);
            }
            new FileOutputStream(file.getPath(), true).close();
            try (FileInputStream in = new FileInputStream(file)) {
                sum += in.read();
            }
            new RandomAccessFile(file, "rw").close();
            // Its channel closes it.
            new FileInputStream(file.getPath()).getChannel().close();
            try {
                sum += new FileInputStream(new File(file, "missing")).read();
                Protocol.unreachable("opened");
            } catch (FileNotFoundException expected) {
                sum++;
            }
        }
        Files.delete(file.toPath());
    }

    /** No temporary file of the JDK's, whose name is random: for random numbers it opens files that it never closes. */
    private static File file() {
        return new File(System.getProperty("java.io.tmpdir"), "file-left-open-" + ProcessHandle.current().pid());
    }

    private static void bad(Protocol protocol) throws IOException {
        File file = file();
        for (int i = 0; i < Protocol.OBJECTS; i++) {
            new FileOutputStream(file).write(1);
            sum += new FileInputStream(file.getPath()).read();
            sum += new RandomAccessFile(file, "r").length();
            protocol.dead(3);
        }
        Files.delete(file.toPath());
    }
}
