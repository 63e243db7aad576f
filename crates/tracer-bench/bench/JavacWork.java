package jtrace.bench;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/** javac: made-up classes are compiled. The scale is tens of classes. */
final class JavacWork implements Work {
    private JavaCompiler compiler;
    private Sources sources;
    private Path target;

    @Override
    public void setUp(int scale) throws Exception {
        compiler = ToolProvider.getSystemJavaCompiler();
        if (compiler == null) {
            throw new Wrong("this Java runtime has no compiler (module jdk.compiler); a JDK has one");
        }
        sources = new Sources(scale * 10);
    }

    @Override
    public void iterate() throws Exception {
        target = sources.target();
        List<String> words = new ArrayList<>(List.of("-d", target.toString(), "-g", "-nowarn", "-proc:none", "-Xlint:none"));
        try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
            Iterable<? extends javax.tools.JavaFileObject> units = files.getJavaFileObjectsFromPaths(sources.files());
            if (!compiler.getTask(null, files, null, words, null, units).call()) {
                throw new Wrong("the sources do not compile");
            }
        }
    }

    @Override
    public long check(Map<String, Long> counts) throws Exception {
        return sources.check(target, counts);
    }
}
