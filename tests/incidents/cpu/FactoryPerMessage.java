/*
 * incident: Each message makes its own factory of XML parsers, which looks for the implementation and sets it up each time.
 * names: cpu-hot-line|allocation-rate FactoryPerMessage$Inbox.take
 * load: cpu
 * jfr: jdk.ExecutionSample FactoryPerMessage
 */
import incidents.Incident;
import java.io.StringReader;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Document;
import org.xml.sax.InputSource;

public final class FactoryPerMessage {
    private static volatile int parsed;

    static final class Inbox {
        int take(String message) throws Exception {
            DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
            Document document = factory.newDocumentBuilder().parse(new InputSource(new StringReader(message)));
            return document.getDocumentElement().getChildNodes().getLength();
        }
    }

    private static void poll() {
        Inbox inbox = new Inbox();
        try {
            while (!Thread.currentThread().isInterrupted()) {
                parsed += inbox.take("<order><item>1</item><item>2</item></order>");
            }
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] args) throws Exception {
        Thread poll = new Thread(FactoryPerMessage::poll, "inbox");
        poll.setDaemon(true);
        poll.start();
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
