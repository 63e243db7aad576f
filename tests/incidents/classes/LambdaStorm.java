/*
 * incident: Each evaluation of a formula makes its function by LambdaMetafactory, a new hidden class each time.
 * names: class-storm|class-leak LambdaStorm
 * load: cpu
 * flags: -Xmx128m
 * jfr: none
 */
import incidents.Incident;
import java.lang.invoke.CallSite;
import java.lang.invoke.LambdaMetafactory;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.function.IntUnaryOperator;

public final class LambdaStorm {
    private static final MethodHandles.Lookup LOOKUP = MethodHandles.lookup();

    static int twice(int value) {
        return 2 * value;
    }

    static int next(int value) {
        return value + 1;
    }

    private static IntUnaryOperator compile(String name) throws Throwable {
        MethodType type = MethodType.methodType(int.class, int.class);
        MethodHandle code = LOOKUP.findStatic(LambdaStorm.class, name, type);
        CallSite site = LambdaMetafactory.metafactory(
            LOOKUP, "applyAsInt", MethodType.methodType(IntUnaryOperator.class), type, code, type);
        return (IntUnaryOperator) site.getTarget().invokeExact();
    }

    private static int evaluate(int value) throws Throwable {
        return compile(value % 2 == 0 ? "twice" : "next").applyAsInt(value);
    }

    private static void sheet() {
        try {
            for (int value = 0; evaluate(value) >= 0; value = (value + 1) % 1000) {
                if (value % 8 == 0) {
                    Thread.sleep(8);
                }
            }
        } catch (Throwable e) {
            System.err.println("no value: " + e);
        }
    }

    public static void main(String[] args) throws Exception {
        new Thread(LambdaStorm::sheet, "sheet").start();
        Thread.sleep(500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
