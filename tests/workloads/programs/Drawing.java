import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.io.Reader;
import java.io.StringReader;
import java.lang.reflect.Method;
import java.util.Random;

/** Batik: a drawing of curves, gradients and clipped shapes becomes a PNG. */
final class Drawing implements Programs.Program {
    private static final String PACKAGE = "org.apache.batik.transcoder.";

    private final String drawing;
    private final Class<?> inputs = Class.forName(PACKAGE + "TranscoderInput");
    private final Class<?> outputs = Class.forName(PACKAGE + "TranscoderOutput");
    private final Class<?> transcoders = Class.forName(PACKAGE + "image.PNGTranscoder");

    Drawing() throws ClassNotFoundException {
        Random random = new Random(42);
        StringBuilder svg = new StringBuilder("<svg xmlns='http://www.w3.org/2000/svg' width='600' height='600'><defs>");
        for (int i = 0; i < 10; i++) {
            svg.append("<linearGradient id='g").append(i).append("'><stop offset='0' stop-color='#").append(colour(random))
                .append("'/><stop offset='1' stop-color='#").append(colour(random)).append("'/></linearGradient>");
        }
        svg.append("<clipPath id='c'><circle cx='300' cy='300' r='280'/></clipPath></defs><g clip-path='url(#c)'>");
        for (int i = 0; i < 400; i++) {
            svg.append("<path opacity='0.6' fill='url(#g").append(i % 10).append(")' stroke='#").append(colour(random))
                .append("' stroke-width='").append(1 + i % 5).append("' d='M").append(point(random));
            for (int j = 0; j < 4; j++) {
                svg.append(" C").append(point(random)).append(' ').append(point(random)).append(' ').append(point(random));
            }
            svg.append("Z'/>");
        }
        drawing = svg.append("</g></svg>").toString();
    }

    private static String colour(Random random) {
        return String.format("%06x", random.nextInt(1 << 24));
    }

    private static String point(Random random) {
        return random.nextInt(600) + "," + random.nextInt(600);
    }

    @Override
    public long round() throws Exception {
        ByteArrayOutputStream image = new ByteArrayOutputStream();
        Object input = inputs.getConstructor(Reader.class).newInstance(new StringReader(drawing));
        Object output = outputs.getConstructor(OutputStream.class).newInstance(image);
        Method transcode = transcoders.getMethod("transcode", inputs, outputs);
        transcode.invoke(transcoders.getDeclaredConstructor().newInstance(), input, output);
        return image.size();
    }
}
