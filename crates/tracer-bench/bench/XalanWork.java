package jtrace.bench;

import java.io.StringReader;
import java.io.StringWriter;
import java.util.Map;
import java.util.Random;
import javax.xml.transform.Templates;
import javax.xml.transform.stream.StreamResult;
import javax.xml.transform.stream.StreamSource;
import org.apache.xalan.processor.TransformerFactoryImpl;

/** Xalan: a list of orders becomes a page, with sorting, keys, sums and recursion. The scale is the number of lists. */
final class XalanWork implements Work {
    private static final int ORDERS = 400;
    private static final String SHEET = String.join("\n",
        "<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'>",
        "<xsl:key name='of-customer' match='order' use='@customer'/>",
        "<xsl:template match='/orders'><html><body>",
        "  <xsl:for-each select='order'><xsl:sort select='@total' data-type='number' order='descending'/>",
        "    <xsl:sort select='@customer'/><xsl:apply-templates select='.'/></xsl:for-each>",
        "  <p>sum <xsl:value-of select='sum(order/@total)'/></p></body></html></xsl:template>",
        "<xsl:template match='order'><div id='{@id}'>",
        "  <h1><xsl:value-of select='concat(@customer, \": \", @total)'/></h1>",
        "  <xsl:value-of select='count(key(\"of-customer\", @customer))'/>",
        "  <ul><xsl:apply-templates select='item'/></ul>",
        "  <xsl:call-template name='bar'><xsl:with-param name='n' select='@total mod 20'/></xsl:call-template>",
        "</div></xsl:template>",
        "<xsl:template match='item[@price &gt; 50]'><li class='dear'><xsl:value-of select='.'/></li></xsl:template>",
        "<xsl:template match='item'><li><xsl:value-of select='translate(., \"abc\", \"ABC\")'/></li></xsl:template>",
        "<xsl:template name='bar'><xsl:param name='n'/><xsl:if test='$n &gt; 0'>#<xsl:call-template name='bar'>",
        "  <xsl:with-param name='n' select='$n - 1'/></xsl:call-template></xsl:if></xsl:template>",
        "</xsl:stylesheet>");

    private Templates templates;
    private String orders;
    private int lists;
    private long totals;
    private long bars;
    private String[] pages;

    @Override
    public void setUp(int scale) throws Exception {
        lists = scale;
        templates = new TransformerFactoryImpl().newTemplates(new StreamSource(new StringReader(SHEET)));
        Random random = new Random(42);
        StringBuilder xml = new StringBuilder("<orders>");
        for (int order = 0; order < ORDERS; order++) {
            int total = random.nextInt(10_000);
            totals += total;
            bars += total % 20;
            xml.append("<order id='o").append(order).append("' customer='c").append(random.nextInt(60))
                .append("' total='").append(total).append("'>");
            for (int item = random.nextInt(8); item >= 0; item--) {
                xml.append("<item price='").append(random.nextInt(100)).append("'>abc item ").append(item).append("</item>");
            }
            xml.append("</order>");
        }
        orders = xml.append("</orders>").toString();
    }

    @Override
    public void iterate() throws Exception {
        pages = new String[lists];
        for (int list = 0; list < lists; list++) {
            StringWriter page = new StringWriter();
            templates.newTransformer().transform(new StreamSource(new StringReader(orders)), new StreamResult(page));
            pages[list] = page.toString();
        }
    }

    @Override
    public long check(Map<String, Long> counts) throws Wrong {
        for (String page : pages) {
            Wrong.unless("orders on a page", page.split("<div ", -1).length - 1, ORDERS);
            Wrong.unless("marks on a page", page.chars().filter(letter -> letter == '#').count(), bars);
            if (!page.contains("sum " + totals + "<")) {
                throw new Wrong("the sum of the totals is not " + totals);
            }
        }
        counts.put("pages", (long) lists);
        return java.util.Arrays.hashCode(pages);
    }
}
