/*
 * incident: A poller was interrupted once, puts the flag back and goes on: each of its sleeps ends at once with an exception.
 * names: exceptions|exception-rate|spinning Poller.|InterruptedException
 * load: cpu
 * jfr: jdk.ExecutionSample Poller
 */
package org.mailbox.poll;

import incidents.Incident;
import java.util.concurrent.TimeUnit;

public final class InterruptedPoller {
    static final class Poller implements Runnable {
        private long polls;

        private void pause() {
            try {
                TimeUnit.SECONDS.sleep(1);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        @Override
        public void run() {
            while (polls >= 0) {
                polls++;
                pause();
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Thread poller = Incident.start("poller", new Poller());
        Thread.sleep(300);
        poller.interrupt();
        Thread.sleep(1500);
        Incident.readyUntilTheEnd();
    }
}
