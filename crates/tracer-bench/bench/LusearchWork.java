package jtrace.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.queryparser.classic.QueryParser;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.store.NIOFSDirectory;

/** Lucene: queries on an index of 5000 texts, by a thread for each CPU. The scale is hundreds of queries a thread. */
final class LusearchWork implements Work {
    private static final int DOCUMENTS = 5000;

    private final int threads = Runtime.getRuntime().availableProcessors();
    private final ExecutorService pool = Executors.newFixedThreadPool(threads);
    private IndexSearcher searcher;
    private int queries;
    private long[] found;

    @Override
    public void setUp(int scale) throws Exception {
        queries = scale * 100;
        NIOFSDirectory directory = new NIOFSDirectory(Documents.folder());
        new Documents(DOCUMENTS).index(directory);
        searcher = new IndexSearcher(DirectoryReader.open(directory));
    }

    @Override
    public void iterate() throws Exception {
        List<Future<Long>> searches = new ArrayList<>();
        for (int thread = 0; thread < threads; thread++) {
            int seed = thread;
            searches.add(pool.submit(() -> search(seed)));
        }
        found = new long[threads];
        for (int thread = 0; thread < threads; thread++) {
            found[thread] = searches.get(thread).get();
        }
    }

    /** Every fourth query is one whose answer is known; the others are for words as they come. */
    private long search(int seed) throws Exception {
        QueryParser parser = new QueryParser("text", new StandardAnalyzer());
        Words words = new Words(seed);
        long fingerprint = 0;
        for (int query = 0; query < queries; query++) {
            boolean known = query % 4 == 0;
            int a = Documents.FACTORS[query / 4 % 4];
            int b = Documents.FACTORS[query / 16 % 4];
            String text = known ? "+" + Documents.term(a) + " +" + Documents.term(b)
                : words.word() + " OR (" + words.word() + " AND " + words.word() + ") OR " + words.word() + "*";
            TopDocs top = searcher.search(parser.parse(text), 10);
            if (known) {
                int both = a == b ? a : a * b;
                Wrong.unless("hits for " + text, top.totalHits, Documents.multiples(DOCUMENTS, both));
            }
            fingerprint = fingerprint * 31 + top.totalHits;
            for (ScoreDoc hit : top.scoreDocs) {
                fingerprint = fingerprint * 31 + searcher.doc(hit.doc).get("number").hashCode();
            }
        }
        return fingerprint;
    }

    @Override
    public long check(Map<String, Long> counts) {
        counts.put("queries", (long) threads * queries);
        return java.util.Arrays.hashCode(found);
    }
}
