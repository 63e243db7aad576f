/*
 * incident: Each page opens the archive of templates anew to read one small file of it.
 * names: cpu-hot-line|allocation-rate TemplateArchive$Pages.render
 * load: cpu
 * jfr: jdk.ExecutionSample TemplateArchive
 */
import incidents.Incident;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;

public final class TemplateArchive {
    private static volatile long rendered;

    static final class Pages {
        private final Path archive;

        Pages(Path archive) {
            this.archive = archive;
        }

        long render(int page) throws IOException {
            try (ZipFile templates = new ZipFile(archive.toFile());
                    InputStream in = templates.getInputStream(templates.getEntry("page-" + page + ".html"))) {
                return in.readAllBytes().length;
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Path archive = Incident.temporaryFile("templates", ".zip");
        try (OutputStream out = Files.newOutputStream(archive); ZipOutputStream zip = new ZipOutputStream(out)) {
            for (int page = 0; page < 4000; page++) {
                zip.putNextEntry(new ZipEntry("page-" + page + ".html"));
                zip.write(("<h1>" + page + "</h1>").getBytes());
                zip.closeEntry();
            }
        }
        Pages pages = new Pages(archive);
        Thread web = new Thread(() -> {
            try {
                for (int i = 0; ; i++) {
                    rendered += pages.render(i % 4000);
                }
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }, "web");
        web.setDaemon(true);
        web.start();
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
