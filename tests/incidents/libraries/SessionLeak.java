/*
 * incident: An order for which there is no stock ends with an exception, and its session is not given back: after some, there is none left.
 * names: pool-exhausted SessionLeak.handle
 * jars: libcommons-pool2-java/commons-pool2 libcommons-logging-java/commons-logging
 */
package libraries;

import incidents.Incident;
import org.apache.commons.pool2.BasePooledObjectFactory;
import org.apache.commons.pool2.PooledObject;
import org.apache.commons.pool2.impl.DefaultPooledObject;
import org.apache.commons.pool2.impl.GenericObjectPool;

public final class SessionLeak {
    static final class Session {}

    private static final class Sessions extends BasePooledObjectFactory<Session> {
        @Override
        public Session create() {
            return new Session();
        }

        @Override
        public PooledObject<Session> wrap(Session session) {
            return new DefaultPooledObject<>(session);
        }
    }

    private final GenericObjectPool<Session> sessions = new GenericObjectPool<>(new Sessions());

    private void handle(int order) throws Exception {
        Session session = sessions.borrowObject();
        if (order % 20 == 19) {
            throw new IllegalStateException("no stock");
        }
        Incident.sleep(5);
        sessions.returnObject(session);
    }

    private void serve() {
        for (int order = 0;; order++) {
            try {
                handle(order);
            } catch (Exception e) {
                // The next one is for somebody else.
            }
        }
    }

    public static void main(String[] args) {
        SessionLeak shop = new SessionLeak();
        for (int i = 0; i < 12; i++) {
            Incident.start("http-" + i, shop::serve);
        }
        Incident.sleep(1500);
        Incident.readyUntilTheEnd();
    }
}
