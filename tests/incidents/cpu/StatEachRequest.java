/*
 * incident: Each request looks through the folder of configuration files for one that has changed.
 * names: cpu-hot-line|cpu-hot-method|slow-disk ConfigWatcher.
 * load: cpu
 * jfr: jdk.NativeMethodSample ConfigWatcher
 */
package com.acme.config;

import incidents.Incident;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.LongAdder;

public final class StatEachRequest {
    static final class ConfigWatcher {
        private final File folder;
        private long newest;

        ConfigWatcher(File folder) {
            this.folder = folder;
        }

        boolean changed() {
            long latest = 0;
            File[] files = folder.listFiles();
            for (File file : files == null ? new File[0] : files) {
                latest = Math.max(latest, file.lastModified());
            }
            boolean changed = latest > newest;
            newest = latest;
            return changed;
        }
    }

    public static void main(String[] args) throws Exception {
        Path folder = Incident.temporaryFolder("config");
        for (int i = 0; i < 300; i++) {
            Files.writeString(folder.resolve("part-" + i + ".properties"), "a=" + i);
        }
        LongAdder served = new LongAdder();
        Incident.start("server", () -> {
            ConfigWatcher watcher = new ConfigWatcher(folder.toFile());
            while (true) {
                watcher.changed();
                served.increment();
            }
        });
        Thread.sleep(2000);
        Incident.readyUntilTheEnd();
    }
}
