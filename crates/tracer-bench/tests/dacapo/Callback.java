package org.dacapo.harness;

public class Callback {
    public Callback(CommandLineArgs args) {}

    public boolean runAgain() {
        return false;
    }

    public void start(String benchmark) {}

    public void stop(/*duration*/) {}

    public void complete(String benchmark, boolean valid) {}
}
