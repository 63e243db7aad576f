package jtrace.bench;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import javax.servlet.http.HttpServlet;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;
import org.apache.catalina.Context;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.servlets.DefaultServlet;
import org.apache.catalina.startup.Tomcat;

/** Tomcat: servlets, sessions and files, asked for over loopback by clients in the same JVM. The scale is thousands of requests. */
final class TomcatWork implements Work {
    private static final int ROWS = 40;
    private static final int FILE = 20_000;

    private final int clients = Runtime.getRuntime().availableProcessors();
    private final ExecutorService pool = Executors.newFixedThreadPool(clients);
    private final AtomicLong served = new AtomicLong();
    private int port;
    private int requests;
    private long before;
    private long bytes;

    @Override
    public void setUp(int scale) throws Exception {
        requests = scale * 1000 / clients;
        Path base = Path.of("tomcat").toAbsolutePath();
        Path documents = Files.createDirectories(base.resolve("documents"));
        Files.writeString(documents.resolve("text.txt"), new Words(42).sentences(FILE).substring(0, FILE));
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(base.toString());
        Connector connector = new Connector();
        connector.setProperty("address", InetAddress.getLoopbackAddress().getHostAddress());
        connector.setProperty("maxKeepAliveRequests", "-1");
        connector.setPort(0);
        tomcat.setConnector(connector);
        Context context = tomcat.addContext("", documents.toString());
        Tomcat.addServlet(context, "files", new DefaultServlet());
        context.addServletMappingDecoded("/", "files");
        Tomcat.addServlet(context, "table", new Table());
        context.addServletMappingDecoded("/table", "table");
        tomcat.start();
        port = connector.getLocalPort();
        if (port <= 0) {
            throw new Wrong("Tomcat does not listen");
        }
    }

    @Override
    public void iterate() throws Exception {
        before = served.get();
        List<Future<Long>> running = new ArrayList<>();
        for (int client = 0; client < clients; client++) {
            running.add(pool.submit(new Client()::run));
        }
        bytes = 0;
        for (Future<Long> client : running) {
            bytes += client.get();
        }
    }

    @Override
    public long check(Map<String, Long> counts) throws Wrong {
        // Every fourth request is for the file, and each client looks at what it gets.
        long files = (requests + 3) / 4;
        long tables = (requests - files) * (long) clients;
        Wrong.unless("tables served", served.get() - before, tables);
        counts.put("requests", (long) requests * clients);
        return bytes;
    }

    /** A page that depends on the request and on the session. */
    private final class Table extends HttpServlet {
        private static final long serialVersionUID = 1;

        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
            int number = Integer.parseInt(request.getParameter("number"));
            Integer visits = (Integer) request.getSession().getAttribute("visits");
            request.getSession().setAttribute("visits", visits == null ? 1 : visits + 1);
            response.setContentType("text/html;charset=UTF-8");
            StringBuilder page = new StringBuilder("<html><body><table>");
            for (int row = 0; row < ROWS; row++) {
                page.append("<tr><td>").append(row).append("</td><td>").append(Words.word(number + row)).append("</td></tr>");
            }
            page.append("</table><p>visit ").append(visits == null ? 1 : visits + 1).append(".</p></body></html>");
            response.setContentLength(page.length());
            PrintWriter out = response.getWriter();
            out.print(page);
            served.incrementAndGet();
        }
    }

    /** Asks over one connection, and gives the number of bytes that it was sent. */
    private final class Client {
        private String cookie = "";
        private int visits;

        private long run() throws Exception {
            long bytes = 0;
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
                socket.setTcpNoDelay(true);
                InputStream in = new BufferedInputStream(socket.getInputStream());
                OutputStream out = socket.getOutputStream();
                for (int request = 0; request < requests; request++) {
                    boolean file = request % 4 == 0;
                    String path = file ? "/text.txt" : "/table?number=" + request % 5000;
                    out.write(("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n" + cookie + "\r\n")
                        .getBytes(StandardCharsets.ISO_8859_1));
                    String body = answer(in);
                    if (file) {
                        Wrong.unless("bytes of the file", body.length(), FILE);
                    } else if (!body.endsWith("<p>visit " + ++visits + ".</p></body></html>")) {
                        throw new Wrong("a table with another number of visits than " + visits);
                    }
                    bytes += body.length();
                }
            }
            return bytes;
        }

        private String answer(InputStream in) throws IOException, Wrong {
            String status = line(in);
            if (!status.startsWith("HTTP/1.1 200")) {
                throw new Wrong("answer " + status);
            }
            int length = -1;
            for (String header = line(in); !header.isEmpty(); header = line(in)) {
                String lower = header.toLowerCase(java.util.Locale.ROOT);
                if (lower.startsWith("content-length:")) {
                    length = Integer.parseInt(lower.substring(15).trim());
                } else if (lower.startsWith("set-cookie:")) {
                    cookie = "Cookie: " + header.substring(11).split(";", 2)[0].trim() + "\r\n";
                }
            }
            if (length < 0) {
                throw new Wrong("an answer without its length");
            }
            return new String(in.readNBytes(length), StandardCharsets.UTF_8);
        }

        private String line(InputStream in) throws IOException {
            StringBuilder line = new StringBuilder();
            for (int c = in.read(); c >= 0 && c != '\n'; c = in.read()) {
                if (c != '\r') {
                    line.append((char) c);
                }
            }
            return line.toString();
        }
    }
}
