/*
 * incident: Two classes need each other in their static initialisers, and two threads have begun with one each.
 * names: deadlock Currency.|Country.|<clinit>|Currencies
 * jfr: none
 */
package com.acme.master;

import incidents.Incident;
import java.util.concurrent.CountDownLatch;

public final class TwoInitialisers {
    private static final CountDownLatch BOTH = new CountDownLatch(2);

    static void meet() {
        BOTH.countDown();
        try {
            BOTH.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static final class Currencies {
        static final String EURO;

        static {
            meet();
            EURO = "EUR of " + Countries.COUNT;
        }
    }

    static final class Countries {
        static final int COUNT;

        static {
            meet();
            COUNT = Currencies.EURO.length();
        }
    }

    public static void main(String[] args) throws Exception {
        Incident.start("boot-currencies", () -> System.out.println(Currencies.EURO));
        Incident.start("boot-countries", () -> System.out.println(Countries.COUNT));
        Thread.sleep(300);
        for (int i = 0; i < 4; i++) {
            Incident.start("request-" + i, () -> System.out.println(Currencies.EURO));
        }
        Thread.sleep(300);
        Incident.readyUntilTheEnd();
    }
}
