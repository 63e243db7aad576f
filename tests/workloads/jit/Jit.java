import java.io.BufferedReader;
import java.io.InputStreamReader;

/**
 * Makes a few methods hot. How often the JVM compiles is its own business, and its log tells it; run with -Xbatch so that
 * nothing is still being compiled at DONE. "--explode" is a method that is compiled several times as its types change.
 */
public final class Jit {
    private interface Shape {
        long area(long x);
    }

    private static final class Square implements Shape {
        @Override
        public long area(long x) {
            return x * x;
        }
    }

    private static final class Strip implements Shape {
        @Override
        public long area(long x) {
            return x * 3;
        }
    }

    private static final class Hollow implements Shape {
        @Override
        public long area(long x) {
            return x * x - (x - 1) * (x - 1);
        }
    }

    private static long sink;

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("READY");
        while (in.readLine() != null) {
            Shape[] shapes = {new Square(), new Strip(), new Hollow()};
            for (Shape shape : shapes) {
                for (int i = 0; i < 60; i++) {
                    sink += sum(shape, 2000) + text(i);
                }
            }
            System.out.println("DONE rounds=" + shapes.length * 60);
        }
    }

    private static long sum(Shape shape, int count) {
        long sum = 0;
        for (int i = 0; i < count; i++) {
            sum += shape.area(i);
        }
        return sum;
    }

    private static int text(int seed) {
        StringBuilder builder = new StringBuilder();
        for (int i = 0; i < 300; i++) {
            builder.append(Integer.toHexString(seed * 31 + i));
        }
        return builder.toString().hashCode();
    }
}
