/*
 * incident: A library for remote objects has a daemon that collects the whole heap each half second, so that leases end in time.
 * names: gc-explicit LeaseClock.
 * flags: -Xmx512m
 * jfr: jdk.SystemGC LeaseClock
 */
package net.remoting.lease;

import incidents.Incident;
import java.util.ArrayList;
import java.util.List;
import java.util.Timer;
import java.util.TimerTask;

public final class LeaseKeeper {
    static final class LeaseClock extends TimerTask {
        @Override
        public void run() {
            Runtime.getRuntime().gc();
        }
    }

    public static void main(String[] args) throws Exception {
        List<byte[]> stubs = new ArrayList<>();
        for (int i = 0; i < 20_000; i++) {
            stubs.add(new byte[4096]);
        }
        new Timer("GC Daemon", true).schedule(new LeaseClock(), 100, 500);
        Thread.sleep(500);
        Incident.ready();
        Incident.untilStdinEnds();
        System.out.println(stubs.size());
    }
}
