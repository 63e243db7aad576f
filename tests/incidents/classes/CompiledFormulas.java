/*
 * incident: Each formula of a user is compiled by javac and loaded by a class loader that a listener keeps.
 * names: class-leak|class-storm|cpu-hot-line Formulas.|Formula
 * load: cpu
 * jfr: jdk.ExecutionSample Formulas.compile
 */
package com.acme.sheets;

import incidents.Incident;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.tools.ToolProvider;

public final class CompiledFormulas {
    static final class Formulas {
        private final Path folder;
        private final List<Object> listeners = new ArrayList<>();

        Formulas(Path folder) {
            this.folder = folder;
        }

        void compile(String text) throws Exception {
            Path source = folder.resolve("Formula.java");
            Files.writeString(source, "public class Formula { public String toString() { return \"\" + (" + text + "); } }");
            int result = ToolProvider.getSystemJavaCompiler().run(null, null, null, "-nowarn", source.toString());
            if (result != 0) {
                throw new IOException("not compiled");
            }
            URLClassLoader loader = new URLClassLoader(new URL[] {folder.toUri().toURL()}, null);
            listeners.add(loader.loadClass("Formula").getConstructor().newInstance());
        }
    }

    public static void main(String[] args) throws Exception {
        Formulas formulas = new Formulas(Incident.temporaryFolder("formulas"));
        Incident.start("sheets", () -> {
            try {
                for (int n = 0; ; n++) {
                    formulas.compile(n + " * 3 + 1");
                }
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
        Thread.sleep(5000);
        Incident.readyUntilTheEnd();
    }
}
