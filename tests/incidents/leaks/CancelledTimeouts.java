/*
 * incident: Each call schedules a time limit of an hour and cancels it when it is done; cancelled tasks stay in the queue, with their requests.
 * names: heap-growth|heap-nearly-full|humongous Calls.
 * flags: -Xmx64m
 * jfr: none
 */
package io.rpcs.client;

import incidents.Incident;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

public final class CancelledTimeouts {
    static final class CallContext {
        private final byte[] body = new byte[1500];
        private final int number;

        CallContext(int number) {
            this.number = number;
        }

        void expire() {
            System.err.println("call " + number + " of " + body.length + " bytes is late");
        }
    }

    static final class Calls {
        private final ScheduledThreadPoolExecutor limits = new ScheduledThreadPoolExecutor(1);

        int call(int number) {
            CallContext context = new CallContext(number);
            ScheduledFuture<?> limit = limits.schedule(context::expire, 1, TimeUnit.HOURS);
            int answer = context.body.length;
            limit.cancel(false);
            return answer;
        }
    }

    public static void main(String[] args) throws Exception {
        Calls calls = new Calls();
        Incident.start("rpc", () -> {
            for (int number = 0; ; number++) {
                calls.call(number);
                if (number % 200 == 0) {
                    byte[] garbage = new byte[200_000];
                    Incident.sleep(garbage.length / 60_000);
                }
            }
        });
        Thread.sleep(2000);
        Incident.readyUntilTheEnd();
    }
}
