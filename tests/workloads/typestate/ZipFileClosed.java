import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.jar.JarFile;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;

/** Archives that are closed in the end, and some that are asked afterwards. */
public final class ZipFileClosed {
    private static long sum;

    private ZipFileClosed() {}

    public static void main(String[] args) throws Exception {
        Protocol.serve(args, "ZipFileClosed", ZipFileClosed::good, ZipFileClosed::bad);
    }

    private static void good(Protocol protocol) throws IOException {
        Path file = archive();
        for (int i = 0; i < Protocol.OBJECTS; i++) {
            for (ZipFile zip : archives(file)) {
                sum += zip.getInputStream(zip.getEntry("entry")).read() + zip.stream().count() + zip.size();
                zip.close();
                zip.close();
            }
        }
        Files.delete(file);
    }

    private static void bad(Protocol protocol) throws IOException {
        Path file = archive();
        for (int i = 0; i < Protocol.OBJECTS; i++) {
            for (ZipFile zip : archives(file)) {
                zip.close();
                try {
                    sum += zip.getEntry("entry").getSize();
                    Protocol.unreachable("found");
                } catch (IllegalStateException expected) {
                    sum++;
                }
                protocol.illegal(1);
            }
        }
        Files.delete(file);
    }

    private static ZipFile[] archives(Path file) throws IOException {
        return new ZipFile[] {new ZipFile(file.toFile()), new JarFile(file.toFile())};
    }

    private static Path archive() throws IOException {
        Path file = Files.createTempFile("zip-file-closed", null);
        try (ZipOutputStream out = new ZipOutputStream(Files.newOutputStream(file))) {
            out.putNextEntry(new ZipEntry("entry"));
            out.write(1);
            out.closeEntry();
        }
        return file;
    }
}
