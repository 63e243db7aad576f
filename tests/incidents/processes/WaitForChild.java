/*
 * incident: Every job of the build runs a tool of its own that takes a second, and the thread waits for its end.
 * names: slow-process Build.run
 * jfr: jdk.ProcessStart Build.run
 */
package processes;

import incidents.Incident;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

public final class WaitForChild {
    static final class Build {
        private final ConcurrentMap<String, Integer> codes = new ConcurrentHashMap<>();

        void make(String module) throws IOException, InterruptedException {
            for (String step : List.of("compile", "test", "pack")) {
                codes.put(module + ":" + step, run(List.of("sleep", "1")));
            }
        }

        private int run(List<String> command) throws IOException, InterruptedException {
            Process tool = Incident.adopt(new ProcessBuilder(command)
                .redirectInput(Redirect.from(new java.io.File("/dev/null")))
                .redirectOutput(Redirect.DISCARD)
                .redirectError(Redirect.DISCARD)
                .start());
            return tool.waitFor();
        }
    }

    private static void buildForEver(Build build, String module) {
        try {
            while (!Thread.interrupted()) {
                build.make(module);
            }
        } catch (IOException e) {
            System.err.println(module + ": " + e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws Exception {
        Build build = new Build();
        for (String module : List.of("api", "core", "web", "docs")) {
            Thread worker = new Thread(() -> buildForEver(build, module), "build-" + module);
            worker.setPriority(Thread.MIN_PRIORITY);
            worker.start();
        }
        Thread.sleep(1300);
        Incident.ready();
        while (build.codes.values().stream().allMatch(code -> code == 0)) {
            Thread.sleep(2000);
        }
    }
}
