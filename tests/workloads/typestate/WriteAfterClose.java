import java.io.BufferedOutputStream;
import java.io.BufferedWriter;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.FileOutputStream;
import java.io.FileWriter;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.StringWriter;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.GZIPOutputStream;

/** Streams and writers that are written, flushed by being closed, closed twice, and some that are written afterwards. */
public final class WriteAfterClose {
    private static long refused;

    private WriteAfterClose() {}

    public static void main(String[] args) throws Exception {
        Protocol.serve(args, "WriteAfterClose", WriteAfterClose::good, WriteAfterClose::bad);
    }

    private static void good(Protocol protocol) throws IOException {
        Path file = Files.createTempFile("write-after-close", null);
        for (int i = 0; i < Protocol.OBJECTS; i++) {
            for (OutputStream stream : streams(file)) {
                stream.write(1);
                stream.write(new byte[100]);
                stream.close();
                stream.close();
            }
            for (Writer writer : writers(file)) {
                writer.write("some text");
                writer.append('c');
                writer.close();
                writer.close();
            }
            // A stream with others below it, each of which is closed by the one above.
            try (Writer all = new BufferedWriter(new OutputStreamWriter(
                    new BufferedOutputStream(new GZIPOutputStream(new FileOutputStream(file.toFile())))))) {
                all.write("some text");
            }
        }
        Files.delete(file);
    }

    private static void bad(Protocol protocol) throws IOException {
        Path file = Files.createTempFile("write-after-close", null);
        for (int i = 0; i < Protocol.OBJECTS; i++) {
            for (OutputStream stream : streams(file)) {
                stream.write(1);
                stream.close();
                try {
                    stream.write(1);
                } catch (IOException expected) {
                    refused++;
                }
                protocol.illegal(1);
            }
            for (Writer writer : writers(file)) {
                writer.close();
                try {
                    writer.write("some text");
                    Protocol.unreachable("written");
                } catch (IOException expected) {
                    refused++;
                }
                protocol.illegal(1);
            }
        }
        Files.delete(file);
    }

    private static OutputStream[] streams(Path file) throws IOException {
        return new OutputStream[] {
            new FileOutputStream(file.toFile()),
            new BufferedOutputStream(new ByteArrayOutputStream()),
            new DeflaterOutputStream(new ByteArrayOutputStream()),
            new GZIPOutputStream(new ByteArrayOutputStream()),
        };
    }

    private static Writer[] writers(Path file) throws IOException {
        return new Writer[] {
            new FileWriter(file.toFile()),
            new OutputStreamWriter(new DataOutputStream(new ByteArrayOutputStream())),
            new BufferedWriter(new StringWriter()),
        };
    }
}
