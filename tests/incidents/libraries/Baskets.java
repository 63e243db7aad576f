/*
 * incident: Each visitor gets a session of Jetty, which no time ends, whether he comes back or not.
 * names: collection-grows|heap-growth DefaultSessionCache._sessions
 * jars: libjetty9-java/jetty9-server libjetty9-java/jetty9-servlet libjetty9-java/jetty9-util libjetty9-java/jetty9-http libjetty9-java/jetty9-io libjetty9-java/jetty9-security libservlet-api-java/servlet-api libslf4j-java/slf4j-api libslf4j-java/slf4j-nop
 * flags: -Xmx300m
 */
package libraries;

import incidents.Incident;
import java.io.IOException;
import java.net.URL;
import javax.servlet.http.HttpServlet;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.servlet.ServletContextHandler;

public final class Baskets {
    public static final class Basket extends HttpServlet {
        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
            request.getSession(true).setAttribute("basket", new byte[500]);
            response.getWriter().print("empty");
        }
    }

    private static void visit(int port) {
        while (true) {
            try {
                new URL("http://127.0.0.1:" + port + "/").openStream().readAllBytes();
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
            Incident.sleep(10);
        }
    }

    public static void main(String[] args) throws Exception {
        Server server = new Server();
        ServerConnector connector = new ServerConnector(server);
        connector.setHost("127.0.0.1");
        server.addConnector(connector);
        ServletContextHandler handler = new ServletContextHandler(ServletContextHandler.SESSIONS);
        handler.addServlet(Basket.class, "/*");
        server.setHandler(handler);
        server.start();
        Incident.start("visitors", () -> visit(connector.getLocalPort()));
        Incident.sleep(1500);
        Incident.ready();
        server.join();
    }
}
