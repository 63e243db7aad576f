/*
 * healthy: A build starts short processes one after the other, and waits for each as it should.
 * load: cpu
 */
package com.acme.build;

import incidents.Incident;
import java.util.List;

public final class BuildSteps {
    static int step(List<String> command) throws Exception {
        Process process = Incident.adopt(new ProcessBuilder(command).redirectErrorStream(true).start());
        process.getInputStream().readAllBytes();
        return process.waitFor();
    }

    public static void main(String[] args) throws Exception {
        Incident.start("build", () -> {
            try {
                for (int n = 0; ; n++) {
                    step(List.of("sh", "-c", "i=0; while [ $i -lt 2000 ]; do i=$((i+1)); done; echo " + n));
                    Thread.sleep(30);
                }
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
        Thread.sleep(1000);
        Incident.readyUntilTheEnd();
    }
}
