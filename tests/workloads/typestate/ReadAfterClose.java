import java.io.BufferedInputStream;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.LineNumberReader;
import java.io.PushbackInputStream;
import java.io.Reader;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;

/** Streams and readers that are read and closed, twice too, and some that are read afterwards. */
public final class ReadAfterClose {
    private static long sum;

    private ReadAfterClose() {}

    public static void main(String[] args) throws Exception {
        Protocol.serve(args, "ReadAfterClose", ReadAfterClose::good, ReadAfterClose::bad);
    }

    private static void good(Protocol protocol) throws IOException {
        Path file = file();
        for (int i = 0; i < Protocol.OBJECTS; i++) {
            for (InputStream stream : streams(file)) {
                for (int read = stream.read(); read >= 0; read = stream.read()) {
                    sum += read;
                }
                stream.close();
                stream.close();
            }
            for (Reader reader : readers()) {
                sum += reader.read() + reader.read(new char[4]);
                reader.close();
                reader.close();
            }
            // What may be read for ever is no business of this property.
            InputStream bytes = new ByteArrayInputStream(new byte[4]);
            bytes.close();
            sum += bytes.read();
        }
        Files.delete(file);
    }

    private static void bad(Protocol protocol) throws IOException {
        Path file = file();
        for (int i = 0; i < Protocol.OBJECTS; i++) {
            for (InputStream stream : streams(file)) {
                sum += stream.read();
                stream.close();
                try {
                    sum += stream.read();
                    Protocol.unreachable("read");
                } catch (IOException expected) {
                    sum++;
                }
                protocol.illegal(1);
            }
            for (Reader reader : readers()) {
                reader.close();
                try {
                    sum += reader.read();
                    Protocol.unreachable("read");
                } catch (IOException expected) {
                    sum++;
                }
                protocol.illegal(1);
            }
        }
        Files.delete(file);
    }

    private static Path file() throws IOException {
        return Files.write(Files.createTempFile("read-after-close", null), new byte[16]);
    }

    /** Those that have a stream below it have one that may be read for ever, so that each is a violation of its own. */
    private static InputStream[] streams(Path file) throws IOException {
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(packed)) {
            gzip.write(new byte[16]);
        }
        return new InputStream[] {
            new FileInputStream(file.toFile()),
            new BufferedInputStream(new ByteArrayInputStream(new byte[16])),
            new PushbackInputStream(new ByteArrayInputStream(new byte[16])),
            new GZIPInputStream(new ByteArrayInputStream(packed.toByteArray())),
        };
    }

    /** A BufferedReader says itself that it is closed, and does not ask the reader below it. */
    private static Reader[] readers() {
        return new Reader[] {
            new StringReader("some text"),
            new InputStreamReader(new ByteArrayInputStream(new byte[16])),
            new BufferedReader(new StringReader("some text")),
            new LineNumberReader(new StringReader("some text")),
        };
    }
}
