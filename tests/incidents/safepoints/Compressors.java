/*
 * incident: Images are compressed from large arrays in one native call each, and the collector has to wait for those calls to end.
 * names: jni-long-critical-section|cpu-hot-line|cpu-hot-method Compressors
 * load: cpu
 * jfr: none
 */
import incidents.Incident;
import java.util.Random;
import java.util.zip.Deflater;

public final class Compressors {
    private final byte[] image = new byte[8 << 20];
    private long pages;

    private Compressors() {
        new Random(3).nextBytes(image);
        for (int i = 0; i < image.length; i += 3) {
            image[i] = 0;
        }
    }

    private int compress(byte[] out) {
        Deflater deflater = new Deflater(9);
        deflater.setInput(image);
        deflater.finish();
        int length = deflater.deflate(out);
        deflater.end();
        return length;
    }

    private void scan() {
        byte[] out = new byte[16 << 20];
        long sum = 0;
        while (sum >= 0) {
            sum += compress(out);
        }
    }

    private void render() {
        while (pages >= 0) {
            pages += new byte[4096].length / 4096;
        }
    }

    public static void main(String[] args) throws Exception {
        Compressors archive = new Compressors();
        for (int i = 0; i < 2; i++) {
            new Thread(archive::scan, "scanner-" + i).start();
        }
        new Thread(archive::render, "renderer").start();
        Thread.sleep(1500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
