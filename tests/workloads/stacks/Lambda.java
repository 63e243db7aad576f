import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Lambdas, with and without captured values, method references, streams, and strings put together by the JDK. */
final class Lambda {
    private interface Step {
        void take(Worker worker) throws Exception;
    }

    private final Worker worker;

    private Lambda(Worker worker) {
        this.worker = worker;
    }

    static void make(Worker worker, int count) throws Exception {
        for (int i = 0; i < count; i++) {
            for (int warm = 0; warm < 30; warm++) {
                turn(worker, warm);
            }
            worker.armed = true;
            turn(worker, i);
        }
    }

    private static void turn(Worker worker, int value) throws Exception {
        int captured = value;
        switch (value % 6) {
            case 0:
                run(given -> Probe.hit(given), worker);
                break;
            case 1:
                run(given -> run(inner -> { if (captured >= 0) Probe.hit(inner); }, given), worker);
                break;
            case 2:
                run(Probe::hit, worker);
                break;
            case 3:
                Callable<Integer> callable = () -> { Probe.hit(worker); return captured; };
                callable.call();
                break;
            case 4:
                stream(worker, value);
                break;
            default:
                String text = "value " + value + new Lambda(worker) + captured;
                run(given -> text.length(), worker);
                break;
        }
    }

    private static void stream(Worker worker, int value) {
        List<Integer> list = IntStream.range(0, 4).mapToObj(i -> new Lambda(worker).quiet(i + value))
            .sorted(Comparator.comparing(i -> -i)).collect(Collectors.toList());
        list.forEach(i -> new Lambda(worker).quiet(i));
    }

    private static void run(Step step, Worker worker) throws Exception {
        step.take(worker);
    }

    private int quiet(int value) {
        try {
            Probe.hit(worker);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
        return value;
    }

    @Override
    public String toString() {
        return Integer.toString(quiet(7));
    }
}
