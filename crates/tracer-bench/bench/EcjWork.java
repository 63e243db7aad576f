package jtrace.bench;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.eclipse.jdt.core.compiler.batch.BatchCompiler;

/** Eclipse's compiler: made-up classes are compiled. The scale is tens of classes. */
final class EcjWork implements Work {
    private Sources sources;
    private Path target;

    @Override
    public void setUp(int scale) throws Exception {
        sources = new Sources(scale * 10);
    }

    @Override
    public void iterate() throws Exception {
        target = sources.target();
        List<String> words = new ArrayList<>(List.of("-d", target.toString(), "-g", "-nowarn", "-proc:none", "-source", "11",
            "-target", "11", "--system", System.getProperty("java.home")));
        for (Path file : sources.files()) {
            words.add(file.toString());
        }
        PrintWriter errors = new PrintWriter(System.err, true);
        if (!BatchCompiler.compile(words.toArray(new String[0]), errors, errors, null)) {
            throw new Wrong("the sources do not compile");
        }
    }

    @Override
    public long check(Map<String, Long> counts) throws Exception {
        return sources.check(target, counts);
    }
}
