import java.io.StringReader;
import java.io.StringWriter;
import java.util.Random;
import javax.xml.transform.Templates;
import javax.xml.transform.Transformer;
import javax.xml.transform.TransformerException;
import javax.xml.transform.TransformerFactory;
import javax.xml.transform.stream.StreamResult;
import javax.xml.transform.stream.StreamSource;

/** Xalan: an order list becomes a page, with sorting, sums and recursion. */
final class Stylesheets implements Programs.Program {
    private static final String SHEET = "<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'>"
        + "<xsl:key name='by-customer' match='order' use='@customer'/>"
        + "<xsl:template match='/orders'><html><body><xsl:for-each select='order'>"
        + "<xsl:sort select='@total' data-type='number' order='descending'/><xsl:sort select='@customer'/>"
        + "<xsl:apply-templates select='.'/></xsl:for-each>"
        + "<p><xsl:value-of select='sum(order/@total)'/></p></body></html></xsl:template>"
        + "<xsl:template match='order'><div id='{@id}'><h1><xsl:value-of select='concat(@customer, \": \", @total)'/></h1>"
        + "<xsl:value-of select='count(key(\"by-customer\", @customer))'/><ul><xsl:apply-templates select='item'/></ul>"
        + "<xsl:call-template name='bar'><xsl:with-param name='n' select='@total mod 20'/></xsl:call-template></div>"
        + "</xsl:template><xsl:template match='item[@price &gt; 50]'><li class='dear'><xsl:value-of select='.'/></li>"
        + "</xsl:template><xsl:template match='item'><li><xsl:value-of select='translate(., \"abc\", \"ABC\")'/></li>"
        + "</xsl:template><xsl:template name='bar'><xsl:param name='n'/><xsl:if test='$n &gt; 0'>#<xsl:call-template "
        + "name='bar'><xsl:with-param name='n' select='$n - 1'/></xsl:call-template></xsl:if></xsl:template>"
        + "</xsl:stylesheet>";

    private final Templates templates;
    private final String orders;

    Stylesheets() throws TransformerException {
        TransformerFactory factory = TransformerFactory.newInstance(
            "org.apache.xalan.processor.TransformerFactoryImpl", Stylesheets.class.getClassLoader());
        templates = factory.newTemplates(new StreamSource(new StringReader(SHEET)));
        Random random = new Random(42);
        StringBuilder xml = new StringBuilder("<orders>");
        for (int order = 0; order < 400; order++) {
            xml.append("<order id='o").append(order).append("' customer='c").append(random.nextInt(60))
                .append("' total='").append(random.nextInt(10_000)).append("'>");
            for (int item = random.nextInt(8); item >= 0; item--) {
                xml.append("<item price='").append(random.nextInt(100)).append("'>abc item ").append(item).append("</item>");
            }
            xml.append("</order>");
        }
        orders = xml.append("</orders>").toString();
    }

    @Override
    public long round() throws TransformerException {
        StringWriter page = new StringWriter();
        Transformer transformer = templates.newTransformer();
        transformer.transform(new StreamSource(new StringReader(orders)), new StreamResult(page));
        return page.toString().hashCode();
    }
}
