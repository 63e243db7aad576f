package com.shop;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * A shop in an incident, for the demo: it allocates under pressure, fights for one lock and leaks threads.
 * Prints READY when all three are under way. Ends when standard input closes, and after ten minutes in any case.
 */
public final class Demo {
    private static final int CUSTOMERS = 14;
    private static final int LEAKED_MOST = 200;
    private static final long LEAK_EVERY_MS = 250;
    private static final long LIFE_MS = 600_000;
    private static final int ORDERS_KEPT = 30_000;
    private static final int ORDERS_AT_ONCE = 400;

    /** Counts down once for each planted problem that is under way. */
    private static final CountDownLatch UNDER_WAY = new CountDownLatch(CUSTOMERS + 2);

    public static void main(String[] args) throws Exception {
        start("watchdog", Demo::endLater);
        start("stdin-watcher", Demo::endWithInput);
        Cart cart = new Cart();
        for (int i = 0; i < CUSTOMERS; i++) {
            start("customer-" + i, () -> shop(cart));
        }
        start("order-history", Demo::keepOrders);
        start("mailer", Demo::leakThreads);
        UNDER_WAY.await();
        System.out.println("READY");
        System.out.flush();
    }

    /** Many threads, one cart. */
    private static void shop(Cart cart) throws InterruptedException {
        cart.add("first");
        UNDER_WAY.countDown();
        while (true) {
            cart.add("book");
        }
    }

    /** Keeps many small orders alive and replaces them all the time, so that old ones die in the old generation. */
    private static void keepOrders() throws InterruptedException {
        Deque<Order> orders = new ArrayDeque<>();
        for (long number = 0; ; number++) {
            orders.addLast(checkout(number));
            if (orders.size() > ORDERS_KEPT) {
                orders.removeFirst();
            }
            if (number == ORDERS_KEPT) {
                UNDER_WAY.countDown();
            }
            if (number % ORDERS_AT_ONCE == 0) {
                // Leaves a small machine some time for whoever looks into this JVM.
                Thread.sleep(1);
            }
        }
    }

    private static Order checkout(long number) {
        return new Order(number);
    }

    /** Makes a pool for each mail, as one does by mistake, and never shuts it down. */
    private static void leakThreads() throws InterruptedException {
        List<ExecutorService> pools = new ArrayList<>();
        while (pools.size() < LEAKED_MOST) {
            ExecutorService pool = Executors.newSingleThreadExecutor();
            boolean first = pools.isEmpty();
            pool.execute(() -> {
                if (first) {
                    UNDER_WAY.countDown();
                }
            });
            pools.add(pool);
            Thread.sleep(LEAK_EVERY_MS);
        }
        Thread.sleep(LIFE_MS);
    }

    private static void endLater() throws InterruptedException {
        Thread.sleep(LIFE_MS);
        Runtime.getRuntime().halt(0);
    }

    private static void endWithInput() throws IOException {
        while (System.in.read() != -1) {
            continue;
        }
        Runtime.getRuntime().halt(0);
    }

    private interface Work {
        void run() throws Exception;
    }

    private static void start(String name, Work work) {
        Thread thread = new Thread(() -> {
            try {
                work.run();
            } catch (Exception e) {
                throw new IllegalStateException(name, e);
            }
        }, name);
        thread.setDaemon(true);
        thread.start();
    }

    /** An order with a history: many small objects and one array. */
    private static final class Order {
        final long number;
        final byte[] receipt = new byte[2048];
        final List<String> lines = new ArrayList<>();

        Order(long number) {
            this.number = number;
            for (int i = 0; i < 4; i++) {
                lines.add("order " + number + " line " + i);
            }
        }
    }
}
