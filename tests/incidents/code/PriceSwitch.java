/*
 * incident: A watcher sets the target of a call site again every 40 ms, and each time all code that has it inlined is thrown away and compiled anew.
 * names: jit-recompilation|cpu-jit PriceSwitch
 * load: cpu
 * jfr: jdk.CompilerStatistics invalidatedCount
 */
package code;

import incidents.Incident;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.MutableCallSite;

public final class PriceSwitch {
    private static final MethodType TYPE = MethodType.methodType(long.class, long.class);
    private static final MutableCallSite RULE = new MutableCallSite(TYPE);
    private static final MethodHandle PRICE = RULE.dynamicInvoker();

    private static long normal(long cents) {
        return cents + cents / 5;
    }

    private static long reduced(long cents) {
        return cents + cents / 14;
    }

    static long gross(long cents) {
        try {
            return (long) PRICE.invokeExact(cents);
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    private static long basket(long seed) {
        long sum = 0;
        for (int i = 0; i < 2000; i++) {
            sum += gross(seed + i);
        }
        return sum;
    }

    /** Reads the rules again and again, and installs them whether they have changed or not. */
    private static void watchRules() {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            for (int i = 0; ; i++) {
                String rule = i % 50 < 45 ? "normal" : "reduced";
                RULE.setTarget(lookup.findStatic(PriceSwitch.class, rule, TYPE));
                MutableCallSite.syncAll(new MutableCallSite[] {RULE});
                Thread.sleep(40);
            }
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws Exception {
        new Thread(PriceSwitch::watchRules, "rule-watcher").start();
        Thread.sleep(200);
        Thread till = new Thread(() -> {
            long total = 0;
            while (total != 1) {
                total += basket(total & 0xffff);
            }
        }, "till");
        till.setDaemon(true);
        till.start();
        Thread.sleep(1500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
