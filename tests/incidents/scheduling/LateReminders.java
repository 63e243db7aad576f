/*
 * incident: All reminders share one java.util.Timer, and one of its tasks takes 400 ms of each 250 ms: the others are ever later.
 * names: slow-task|slow-dispatcher|executor-backlog Reminder|NewsLetter.
 * jfr: jdk.ThreadSleep NewsLetter
 */
package com.acme.reminders;

import incidents.Incident;
import java.util.Timer;
import java.util.TimerTask;

public final class LateReminders {
    static final class NewsLetter extends TimerTask {
        @Override
        public void run() {
            deliver();
        }

        private void deliver() {
            try {
                Thread.sleep(400);
            } catch (InterruptedException e) {
                cancel();
            }
        }
    }

    static final class Heartbeat extends TimerTask {
        private int beats;

        @Override
        public void run() {
            beats++;
        }
    }

    public static void main(String[] args) throws Exception {
        Timer timer = new Timer("reminders", true);
        timer.scheduleAtFixedRate(new NewsLetter(), 0, 250);
        for (int i = 0; i < 20; i++) {
            timer.scheduleAtFixedRate(new Heartbeat(), i, 100);
        }
        Thread.sleep(1500);
        Incident.readyUntilTheEnd();
    }
}
