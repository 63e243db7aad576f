/*
 * incident: Publishers of quotes wait in submit, since one subscriber takes 40 ms for each quote and its buffer is full.
 * names: full-queue|slow-task QuoteStream.|Ticker.
 * jfr: jdk.ThreadPark QuoteStream
 */
package com.acme.stream;

import incidents.Incident;
import java.util.concurrent.Executors;
import java.util.concurrent.SubmissionPublisher;

public final class SlowSubscriber {
    static final class QuoteStream {
        private final SubmissionPublisher<Integer> quotes = new SubmissionPublisher<>(Executors.newFixedThreadPool(2), 8);

        void publish(int quote) {
            quotes.submit(quote);
        }
    }

    public static void main(String[] args) throws Exception {
        QuoteStream stream = new QuoteStream();
        stream.quotes.consume(quote -> Incident.sleep(40));
        stream.quotes.consume(quote -> { });
        for (int i = 0; i < 3; i++) {
            Incident.start("ticker-" + i, () -> {
                for (int quote = 0; ; quote++) {
                    stream.publish(quote);
                }
            });
        }
        Thread.sleep(500);
        Incident.readyUntilTheEnd();
    }
}
