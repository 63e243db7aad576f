package jtrace.bench;

import java.util.Map;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.Term;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.NIOFSDirectory;

/** Lucene: an index of made-up texts is written to files. The scale is hundreds of texts. */
final class LuindexWork implements Work {
    private Documents documents;
    private Directory directory;

    @Override
    public void setUp(int scale) throws Exception {
        documents = new Documents(scale * 100);
        directory = new NIOFSDirectory(Documents.folder());
    }

    @Override
    public void iterate() throws Exception {
        documents.index(directory);
    }

    @Override
    public long check(Map<String, Long> counts) throws Exception {
        try (DirectoryReader reader = DirectoryReader.open(directory)) {
            Wrong.unless("documents", reader.numDocs(), documents.count());
            for (int factor : Documents.FACTORS) {
                Term term = new Term("text", Documents.term(factor));
                Wrong.unless("documents with " + term, reader.docFreq(term), Documents.multiples(documents.count(), factor));
            }
            counts.put("documents", (long) reader.numDocs());
            return reader.getSumTotalTermFreq("text");
        }
    }
}
