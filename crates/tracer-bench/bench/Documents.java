package jtrace.bench;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.StringField;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.store.Directory;
import org.apache.lucene.util.Version;

/** Texts to index and to search. Document n holds the term {@code multipleofK} for each K in {@link #FACTORS} that divides n. */
final class Documents {
    static final int[] FACTORS = {2, 3, 5, 7};

    private final List<String> texts = new ArrayList<>();

    Documents(int count) {
        Words words = new Words(42);
        for (int n = 0; n < count; n++) {
            StringBuilder text = new StringBuilder(words.sentences(150));
            for (int factor : FACTORS) {
                if (n % factor == 0) {
                    text.append(term(factor)).append(' ');
                }
            }
            texts.add(text.append(words.sentences(50)).toString());
        }
    }

    static String term(int factor) {
        return "multipleof" + factor;
    }

    /** How many numbers below {@code count} a number divides. */
    static int multiples(int count, int factor) {
        return (count + factor - 1) / factor;
    }

    int count() {
        return texts.size();
    }

    /** Writes an index of all texts, from nothing. */
    void index(Directory directory) throws IOException {
        IndexWriterConfig config = new IndexWriterConfig(Version.LATEST, new StandardAnalyzer());
        config.setOpenMode(IndexWriterConfig.OpenMode.CREATE);
        try (IndexWriter writer = new IndexWriter(directory, config)) {
            for (int n = 0; n < texts.size(); n++) {
                Document document = new Document();
                document.add(new StringField("number", Integer.toString(n), Field.Store.YES));
                document.add(new TextField("text", texts.get(n), Field.Store.YES));
                writer.addDocument(document);
            }
        }
    }

    /** Where an index is kept: in the working folder. */
    static java.io.File folder() {
        return Path.of("index").toFile();
    }
}
