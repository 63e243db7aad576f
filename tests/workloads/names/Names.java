import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.Arrays;

/**
 * Threads and classes whose names are attacks: escape sequences, HTML, newlines, lone surrogates, 60 KiB of text. For each
 * GO it starts and ends one thread per thread name and loads one class per class name (the first GO only makes new classes
 * in a new loader, and so does every other).
 */
public final class Names {
    private static final String[] THREADS = {
        "esc-\u001b[31mred\u001b[0m-\u001b]0;owned\u0007",
        "html-<script>alert('x')</script>&amp;\"'",
        "newline-a\nb\r\nc\tERROR forged",
        "surrogate-\ud800-\udfff-\udc00\ud800",
        "nul-a\u0000b",
        "bidi-\u202eabc\u2066\u200b\ufeff",
        "c1-\u009b31m\u0085",
        "percent-%s%n%p{}${jndi:x}",
        "quote-\\\"},{\"a\":1}",
        "emoji-\ud83d\ude00",
        "",
        "long-" + repeat('L', 60 * 1024),
    };

    /** A class name may hold anything except '.', ';', '[' and an empty part between slashes. */
    private static final String[] CLASSES = {
        "evil/esc-\u001b(0\u001bc\u0007",
        "evil/html-<img src=x onerror=alert(1)>",
        "evil/newline-a\nb\r\tc",
        "evil/surrogate-\ud800-\udfff",
        "evil/nul-a\u0000b",
        "evil/bidi-\u202eabc",
        "evil/c1-\u009b31m",
        "evil/quote-\\\"},{\"a\":1}",
        "evil/emoji-\ud83d\ude00",
        "evil/long-" + repeat('C', 60 * 1024),
    };

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        start("warm-up");
        System.out.println("READY");
        while (in.readLine() != null) {
            for (String name : THREADS) {
                start(name);
            }
            Loader loader = new Loader();
            for (String name : CLASSES) {
                loader.define(name);
            }
            System.out.println("DONE threads=" + THREADS.length + " classes=" + CLASSES.length);
        }
    }

    private static void start(String name) {
        Thread thread = new Thread(null, new Runnable() {
            @Override
            public void run() {
            }
        }, name);
        thread.start();
        while (thread.getState() != Thread.State.TERMINATED) {
            Thread.onSpinWait();
        }
    }

    private static String repeat(char c, int count) {
        char[] text = new char[count];
        Arrays.fill(text, c);
        return new String(text);
    }

    private static final class Loader extends ClassLoader {
        Loader() {
            super(null);
        }

        void define(String name) throws IOException {
            byte[] file = empty(name);
            defineClass(null, file, 0, file.length);
        }
    }

    /** The class file of a class without members. */
    private static byte[] empty(String name) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        out.writeInt(0xCAFEBABE);
        out.writeInt(52);
        out.writeShort(5);
        out.writeByte(1);
        out.writeUTF(name);
        out.writeByte(7);
        out.writeShort(1);
        out.writeByte(1);
        out.writeUTF("java/lang/Object");
        out.writeByte(7);
        out.writeShort(3);
        out.writeShort(0x0021);
        out.writeShort(2);
        out.writeShort(4);
        for (int i = 0; i < 4; i++) {
            out.writeShort(0);
        }
        return bytes.toByteArray();
    }
}
