import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.CountDownLatch;

/**
 * For each GO, so many orders on a thread of their own, or on a virtual one with any argument: what an order costs is known. Each is priced 3 times, throws 2 exceptions that it
 * catches, makes an array of 64 KiB, and sleeps 1 ms; every tenth one sleeps 30 ms instead, and finds the stock taken by another
 * thread, which holds it until it sees that somebody waits for it. Every tenth one after the fifth ends by an exception.
 */
public final class Shop {
    private static final int ORDERS = 100;
    private static final Object STOCK = new Object();
    private static volatile long sink;

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("READY");
        while (in.readLine() != null) {
            started(args.length > 0).join();
            System.out.println("expected calls Shop.order " + ORDERS);
            System.out.println("expected thrown Shop.order " + ORDERS / 10);
            System.out.println("expected within Shop.price " + 3 * ORDERS);
            System.out.println("expected within Shop.check " + 2 * ORDERS);
            System.out.println("expected exceptions java.lang.IllegalArgumentException " + 2 * ORDERS);
            System.out.println("expected exceptions java.lang.IllegalStateException " + ORDERS / 10);
            System.out.println("expected taken java.lang.Object " + ORDERS / 10);
            System.out.println("DONE");
        }
    }

    private static Thread started(boolean isVirtual) throws ReflectiveOperationException {
        Runnable orders = Shop::orders;
        if (isVirtual) {
            return (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, orders);
        }
        Thread thread = new Thread(orders, "orders");
        thread.start();
        return thread;
    }

    private static void orders() {
        for (int i = 0; i < ORDERS; i++) {
            try {
                order(i);
            } catch (IllegalStateException expected) {
                sink++;
            }
        }
    }

    static void order(int number) {
        for (int i = 0; i < 3; i++) {
            sink += price(number);
        }
        for (int i = 0; i < 2; i++) {
            try {
                check(number);
            } catch (IllegalArgumentException expected) {
                sink++;
            }
        }
        byte[] receipt = new byte[64 << 10];
        sink += receipt.length;
        if (number % 10 == 0) {
            pause(30);
            reserve();
        } else {
            pause(1);
        }
        if (number % 10 == 5) {
            throw new IllegalStateException("no stock");
        }
    }

    static long price(int number) {
        long sum = 0;
        for (int i = 0; i < 1000; i++) {
            sum += (long) number * i;
        }
        return sum;
    }

    static void check(int number) {
        throw new IllegalArgumentException("number " + number);
    }

    private static void pause(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException interrupted) {
            throw new AssertionError(interrupted);
        }
    }

    /** The other thread lets go when this one is blocked, so that it is in each of these orders. */
    private static void reserve() {
        Thread customer = Thread.currentThread();
        CountDownLatch taken = new CountDownLatch(1);
        Thread other = new Thread(() -> {
            synchronized (STOCK) {
                taken.countDown();
                while (customer.getState() != Thread.State.BLOCKED) {
                    Thread.onSpinWait();
                }
            }
        }, "other");
        other.start();
        try {
            taken.await();
            synchronized (STOCK) {
                sink++;
            }
            other.join();
        } catch (InterruptedException interrupted) {
            throw new AssertionError(interrupted);
        }
    }
}
