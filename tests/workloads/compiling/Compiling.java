import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.URI;
import java.util.List;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/**
 * A large program whose code is warm after a while: the JDK's own compiler, which compiles a class of some methods for each line on stdin,
 * and says how long that took. Nothing is written to disk.
 */
public final class Compiling {
    private static final int METHODS = 40;
    /** So that one takes some 40 ms when warm. */
    private static final int TIMES = 3;

    public static void main(String[] args) throws Exception {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        if (compiler == null) {
            throw new IllegalStateException("this is a JDK without a compiler");
        }
        JavaFileManager files = new Nowhere(compiler.getStandardFileManager(null, null, null));
        Text text = new Text(source());
        System.out.println("READY");
        System.out.flush();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        while (in.readLine() != null) {
            long began = System.nanoTime();
            for (int i = 0; i < TIMES; i++) {
                if (!compiler.getTask(null, files, null, null, null, List.of(text)).call()) {
                    throw new IllegalStateException("the class does not compile");
                }
            }
            System.out.println("DONE ns=" + (System.nanoTime() - began));
            System.out.flush();
        }
    }

    private static String source() {
        StringBuilder text = new StringBuilder("import java.util.*; class Made {\n");
        for (int i = 0; i < METHODS; i++) {
            text.append("static int m").append(i).append("(List<String> texts, int x) {\n")
                .append("  int sum = 0;\n")
                .append("  for (String text : texts) {\n")
                .append("    sum += text.length() * x;\n")
                .append("    if (sum % 3 == 0) sum += texts.stream().mapToInt(one -> one.length() + ").append(i).append(").sum();\n")
                .append("    switch (sum & 7) { case 1: sum++; break; case 2: sum += ").append(i).append("; default: sum--; }\n")
                .append("  }\n  return sum;\n}\n");
        }
        return text.append("}\n").toString();
    }

    /** A source file that is a text. */
    private static final class Text extends SimpleJavaFileObject {
        private final String text;

        Text(String text) {
            super(URI.create("string:///Made.java"), Kind.SOURCE);
            this.text = text;
        }

        @Override
        public CharSequence getCharContent(boolean ignoreErrors) {
            return text;
        }
    }

    /** Files of classes go nowhere. */
    private static final class Nowhere extends ForwardingJavaFileManager<JavaFileManager> {
        Nowhere(JavaFileManager files) {
            super(files);
        }

        @Override
        public JavaFileObject getJavaFileForOutput(Location at, String name, JavaFileObject.Kind kind, FileObject beside) {
            return new SimpleJavaFileObject(URI.create("mem:///" + name + ".class"), kind) {
                @Override
                public OutputStream openOutputStream() {
                    return OutputStream.nullOutputStream();
                }
            };
        }
    }
}
