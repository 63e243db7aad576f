package jtrace.bench;

import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.StringReader;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import javax.imageio.ImageIO;
import org.apache.batik.transcoder.TranscoderInput;
import org.apache.batik.transcoder.TranscoderOutput;
import org.apache.batik.transcoder.image.PNGTranscoder;

/** Batik: a drawing of curves, gradients and clipped shapes becomes a picture. The scale is the number of pictures. */
final class BatikWork implements Work {
    private static final int SIDE = 600;
    private static final int MARK = 0x12ab34;

    private String drawing;
    private byte[][] pictures;

    @Override
    public void setUp(int scale) {
        pictures = new byte[scale][];
        Random random = new Random(42);
        StringBuilder svg = new StringBuilder("<svg xmlns='http://www.w3.org/2000/svg' width='600' height='600'><defs>");
        for (int i = 0; i < 10; i++) {
            svg.append("<linearGradient id='g").append(i).append("'><stop offset='0' stop-color='#").append(colour(random))
                .append("'/><stop offset='1' stop-color='#").append(colour(random)).append("'/></linearGradient>");
        }
        svg.append("<clipPath id='c'><circle cx='300' cy='300' r='280'/></clipPath></defs><g clip-path='url(#c)'>");
        for (int i = 0; i < 40; i++) {
            svg.append("<path opacity='0.6' fill='url(#g").append(i % 10).append(")' stroke='#").append(colour(random))
                .append("' stroke-width='").append(1 + i % 5).append("' d='M").append(point(random));
            for (int j = 0; j < 4; j++) {
                svg.append(" C").append(point(random)).append(' ').append(point(random)).append(' ').append(point(random));
            }
            svg.append("Z'/>");
        }
        // Lies over all others, so its colour is known.
        svg.append("</g><rect x='250' y='250' width='100' height='100' shape-rendering='crispEdges' fill='#")
            .append(String.format("%06x", MARK)).append("'/></svg>");
        drawing = svg.toString();
    }

    private static String colour(Random random) {
        return String.format("%06x", random.nextInt(1 << 24));
    }

    private static String point(Random random) {
        return random.nextInt(SIDE) + "," + random.nextInt(SIDE);
    }

    @Override
    public void iterate() throws Exception {
        for (int i = 0; i < pictures.length; i++) {
            ByteArrayOutputStream picture = new ByteArrayOutputStream();
            new PNGTranscoder().transcode(new TranscoderInput(new StringReader(drawing)), new TranscoderOutput(picture));
            pictures[i] = picture.toByteArray();
        }
    }

    @Override
    public long check(Map<String, Long> counts) throws Exception {
        long fingerprint = 0;
        for (byte[] bytes : pictures) {
            BufferedImage picture = ImageIO.read(new ByteArrayInputStream(bytes));
            int width = picture.getWidth();
            int height = picture.getHeight();
            Wrong.unless("pixels", (long) width * height, (long) SIDE * SIDE);
            int[] pixels = picture.getRGB(0, 0, width, height, null, 0, width);
            int[] mark = picture.getRGB(250, 250, 100, 100, null, 0, 100);
            Wrong.unless("pixels of the mark", Arrays.stream(mark).filter(rgb -> (rgb & 0xffffff) == MARK).count(), 10_000);
            fingerprint = fingerprint * 31 + Arrays.hashCode(pixels);
        }
        counts.put("pictures", (long) pictures.length);
        return fingerprint;
    }
}
