package jtrace.bench;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.util.Date;
import java.util.Map;
import javax.xml.transform.Transformer;
import javax.xml.transform.TransformerFactory;
import javax.xml.transform.sax.SAXResult;
import javax.xml.transform.stream.StreamSource;
import org.apache.fop.apps.FOUserAgent;
import org.apache.fop.apps.Fop;
import org.apache.fop.apps.FopFactory;
import org.apache.fop.apps.FopFactoryBuilder;
import org.apache.fop.apps.MimeConstants;

/** FOP: a book of text, lists and tables is set into pages. The scale is the number of times that it is set. */
final class FopWork implements Work {
    /** Of two pages each. */
    private static final int CHAPTERS = 10;
    private static final int ROWS = 25;

    private final FopFactory factory = new FopFactoryBuilder(new File(".").toURI()).build();
    private String book;
    private int copies;
    private int pages;
    private String pdf;

    @Override
    public void setUp(int scale) {
        copies = scale;
        Words words = new Words(42);
        StringBuilder fo = new StringBuilder("<fo:root xmlns:fo='http://www.w3.org/1999/XSL/Format'><fo:layout-master-set>")
            .append("<fo:simple-page-master master-name='page' page-height='29.7cm' page-width='21cm' margin='2cm'>")
            .append("<fo:region-body margin-top='1cm'/><fo:region-before extent='1cm'/></fo:simple-page-master>")
            .append("</fo:layout-master-set><fo:page-sequence master-reference='page' font-family='Times' font-size='10pt'>")
            .append("<fo:static-content flow-name='xsl-region-before'><fo:block text-align='end'>Page <fo:page-number/>")
            .append(" of <fo:page-number-citation ref-id='end'/></fo:block></fo:static-content>")
            .append("<fo:flow flow-name='xsl-region-body'>");
        for (int chapter = 0; chapter < CHAPTERS; chapter++) {
            text(fo, words, chapter);
            table(fo, words);
        }
        book = fo.append("<fo:block id='end'/></fo:flow></fo:page-sequence></fo:root>").toString();
    }

    private static void text(StringBuilder fo, Words words, int chapter) {
        fo.append("<fo:block break-before='page' font-size='16pt' font-weight='bold' space-after='1em'>Chapter ")
            .append(chapter).append("</fo:block>");
        for (int paragraph = 0; paragraph < 3; paragraph++) {
            fo.append("<fo:block text-align='justify' space-after='6pt'>").append(words.sentences(80)).append("</fo:block>");
        }
        fo.append("<fo:list-block provisional-distance-between-starts='8mm'>");
        for (int item = 1; item <= 5; item++) {
            fo.append("<fo:list-item><fo:list-item-label end-indent='label-end()'><fo:block>").append(item)
                .append(".</fo:block></fo:list-item-label><fo:list-item-body start-indent='body-start()'><fo:block>")
                .append(words.sentences(20)).append("</fo:block></fo:list-item-body></fo:list-item>");
        }
        fo.append("</fo:list-block>");
    }

    private static void table(StringBuilder fo, Words words) {
        fo.append("<fo:table break-before='page' table-layout='fixed' width='100%' border='0.5pt solid black'>");
        for (int column = 0; column < 4; column++) {
            fo.append("<fo:table-column column-width='proportional-column-width(").append(column + 1).append(")'/>");
        }
        fo.append("<fo:table-body>");
        for (int row = 0; row < ROWS; row++) {
            fo.append("<fo:table-row>");
            for (int column = 0; column < 4; column++) {
                fo.append("<fo:table-cell border='0.5pt solid gray' padding='2pt'><fo:block>")
                    .append(column == 0 ? String.valueOf(row) : words.word()).append("</fo:block></fo:table-cell>");
            }
            fo.append("</fo:table-row>");
        }
        fo.append("</fo:table-body></fo:table>");
    }

    @Override
    public void iterate() throws Exception {
        pages = 0;
        for (int copy = 0; copy < copies; copy++) {
            set();
        }
    }

    private void set() throws Exception {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        FOUserAgent agent = factory.newFOUserAgent();
        agent.setCreationDate(new Date(0));
        Fop fop = factory.newFop(MimeConstants.MIME_PDF, agent, out);
        Transformer copy = TransformerFactory.newInstance().newTransformer();
        copy.transform(new StreamSource(new StringReader(book)), new SAXResult(fop.getDefaultHandler()));
        pages += fop.getResults().getPageCount();
        pdf = out.toString(StandardCharsets.ISO_8859_1);
    }

    @Override
    public long check(Map<String, Long> counts) throws Wrong {
        Wrong.unless("pages", pages, 2L * CHAPTERS * copies);
        if (!pdf.startsWith("%PDF-") || !pdf.trim().endsWith("%%EOF")) {
            throw new Wrong("no whole PDF");
        }
        counts.put("pages", (long) pages);
        return pdf.length();
    }
}
