import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.SynchronousQueue;

/**
 * Threads that are there from the beginning and stay, each of which makes a few calls on request, one thread after another. Arguments: how
 * many threads, and "virtual" or "platform". Virtual ones have no names, so what is expected of them is told by their ids.
 */
public final class Residents {
    private static long sink;

    private Residents() {}

    public static void main(String[] args) throws Exception {
        boolean isVirtual = args[1].equals("virtual");
        List<Customer> customers = new ArrayList<>();
        for (int i = 0; i < Integer.parseInt(args[0]); i++) {
            customers.add(new Customer(i, isVirtual));
        }
        Session.serve(session -> {
            for (Customer customer : customers) {
                customer.work();
                String name = isVirtual ? "#" + customer.thread.getId() : customer.thread.getName();
                session.expect("thread_calls", name, customer.calls);
            }
        });
        System.exit(0);
    }

    static void buy(int i) {
        sink += i;
    }

    private static final class Customer {
        final int calls;
        final Thread thread;
        private final SynchronousQueue<Boolean> orders = new SynchronousQueue<>();
        private final SynchronousQueue<Boolean> done = new SynchronousQueue<>();

        Customer(int number, boolean isVirtual) throws Exception {
            calls = 10 * (number + 1);
            if (isVirtual) {
                // Programs are compiled for a release that has no virtual threads.
                Method starts = Thread.class.getMethod("startVirtualThread", Runnable.class);
                thread = (Thread) starts.invoke(null, (Runnable) this::serve);
                return;
            }
            thread = new Thread(this::serve, "customer-" + number);
            thread.setDaemon(true);
            thread.start();
        }

        void work() throws InterruptedException {
            orders.put(true);
            done.take();
        }

        private void serve() {
            try {
                while (orders.take()) {
                    for (int i = 0; i < calls; i++) {
                        buy(i);
                    }
                    done.put(true);
                }
            } catch (InterruptedException e) {
                // The program ends.
            }
        }
    }
}
