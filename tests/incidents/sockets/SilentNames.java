/*
 * incident: Deliveries look up the mail server of each domain, and the name server does not answer.
 * names: slow-peer MailRouter.
 * until: 21
 * jfr: none
 */
package org.postoffice.route;

import incidents.Incident;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.util.Hashtable;
import javax.naming.Context;
import javax.naming.NamingException;
import javax.naming.directory.InitialDirContext;

public final class SilentNames {
    static final class MailRouter {
        private final Hashtable<String, String> environment = new Hashtable<>();

        MailRouter(int port) {
            environment.put(Context.INITIAL_CONTEXT_FACTORY, "com.sun.jndi.dns.DnsContextFactory");
            environment.put(Context.PROVIDER_URL, "dns://127.0.0.1:" + port);
        }

        boolean routable(String domain) {
            try {
                return new InitialDirContext(environment).getAttributes(domain, new String[] {"MX"}).size() > 0;
            } catch (NamingException e) {
                return false;
            }
        }
    }

    public static void main(String[] args) throws Exception {
        DatagramSocket silent = new DatagramSocket(0, InetAddress.getLoopbackAddress());
        MailRouter router = new MailRouter(silent.getLocalPort());
        for (int i = 0; i < 4; i++) {
            int number = i;
            Incident.start("delivery-" + i, () -> {
                for (int n = number; ; n += 4) {
                    router.routable("shop" + n + ".example");
                }
            });
        }
        Thread.sleep(700);
        Incident.ready();
        Incident.untilStdinEnds();
        silent.close();
    }
}
