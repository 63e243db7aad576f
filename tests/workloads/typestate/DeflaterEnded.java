import java.util.zip.DataFormatException;
import java.util.zip.Deflater;
import java.util.zip.Inflater;

/** Deflaters and Inflaters that are ended after their work, and some that are used afterwards. */
public final class DeflaterEnded {
    private static long sum;

    private DeflaterEnded() {}

    public static void main(String[] args) throws Exception {
        Protocol.serve(args, "DeflaterEnded", DeflaterEnded::good, DeflaterEnded::bad);
    }

    private static void good(Protocol protocol) throws DataFormatException {
        for (int i = 0; i < Protocol.OBJECTS; i++) {
            byte[] packed = new byte[200];
            Deflater deflater = new Deflater();
            deflater.setInput(new byte[1000]);
            deflater.finish();
            int length = deflater.deflate(packed);
            deflater.reset();
            deflater.end();
            deflater.end();
            Inflater inflater = new Inflater();
            inflater.setInput(packed, 0, length);
            sum += inflater.inflate(new byte[1000]) + inflater.getBytesRead();
            inflater.end();
        }
    }

    private static void bad(Protocol protocol) throws DataFormatException {
        for (int i = 0; i < Protocol.OBJECTS; i++) {
            Deflater deflater = new Deflater();
            deflater.end();
            try {
                deflater.reset();
                Protocol.unreachable("reset");
            } catch (NullPointerException | IllegalStateException expected) {
                sum++;
            }
            Inflater inflater = new Inflater();
            inflater.end();
            try {
                sum += inflater.inflate(new byte[10]);
                Protocol.unreachable("inflated");
            } catch (NullPointerException | IllegalStateException expected) {
                sum++;
            }
            protocol.illegal(2);
        }
    }
}
