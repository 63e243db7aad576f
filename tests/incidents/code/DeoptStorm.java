/*
 * incident: A feature flag is a mutable call site that is set anew each 150 ms, so that the compiled pricing loop is thrown away each time.
 * names: jit-recompilation|cpu-jit DeoptStorm
 * load: cpu
 * jfr: jdk.Deoptimization DeoptStorm
 */
import incidents.Incident;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MutableCallSite;

public final class DeoptStorm {
    private static final MutableCallSite FLAG = new MutableCallSite(MethodHandles.constant(int.class, 0));
    private static final MethodHandle DISCOUNT = FLAG.dynamicInvoker();

    private static volatile long turnover;

    private static long price(int article) throws Throwable {
        long base = article * 31L & 4095;
        return base - base * (int) DISCOUNT.invokeExact() / 100;
    }

    private static long priceAll() throws Throwable {
        long sum = 0;
        for (int article = 0; article < 50_000; article++) {
            sum += price(article);
        }
        return sum;
    }

    private static void trade() {
        try {
            while (turnover >= 0) {
                turnover = priceAll();
            }
        } catch (Throwable e) {
            System.err.println("no price: " + e);
        }
    }

    /** Compiled code takes what the flag says for a constant, and is valid until it says something else. */
    private static void setDiscount(int percent) {
        FLAG.setTarget(MethodHandles.constant(int.class, percent));
        MutableCallSite.syncAll(new MutableCallSite[] {FLAG});
    }

    private static void poll() {
        try {
            for (int i = 0; ; i++) {
                Thread.sleep(150);
                setDiscount(i % 7);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws Exception {
        new Thread(DeoptStorm::trade, "trader").start();
        new Thread(DeoptStorm::poll, "feature-flags").start();
        Thread.sleep(1000);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
