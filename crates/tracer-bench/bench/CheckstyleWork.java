package jtrace.bench;

import com.puppycrawl.tools.checkstyle.Checker;
import com.puppycrawl.tools.checkstyle.ConfigurationLoader;
import com.puppycrawl.tools.checkstyle.PropertiesExpander;
import com.puppycrawl.tools.checkstyle.api.AuditEvent;
import com.puppycrawl.tools.checkstyle.api.AuditListener;
import com.puppycrawl.tools.checkstyle.api.Configuration;
import java.io.File;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Checkstyle: made-up classes are held against the rules of Sun and of Google. The scale is tens of classes. */
final class CheckstyleWork implements Work {
    private static final String[] RULES = {"/sun_checks.xml", "/google_checks.xml"};
    private static final String TRAILING = "RegexpSingleline";
    private static final String STAR = "AvoidStarImport";

    private List<File> files;
    private Found found;

    @Override
    public void setUp(int scale) throws Exception {
        Locale.setDefault(Locale.ROOT);
        files = new Sources(scale * 10).files().stream().map(Path::toFile).collect(Collectors.toList());
    }

    @Override
    public void iterate() throws Exception {
        found = new Found();
        for (String rules : RULES) {
            String address = Checker.class.getResource(rules).toString();
            Configuration configuration =
                ConfigurationLoader.loadConfiguration(address, new PropertiesExpander(new Properties()));
            Checker checker = new Checker();
            checker.setModuleClassLoader(Checker.class.getClassLoader());
            checker.configure(configuration);
            checker.addListener(found);
            checker.process(files);
            checker.destroy();
        }
    }

    @Override
    public long check(Map<String, Long> counts) throws Wrong {
        if (found.exception != null) {
            throw new Wrong(found.exception.toString());
        }
        // One file after the other, by either set of rules.
        Wrong.unless("files checked", found.files, (long) RULES.length * files.size());
        // Of these two it is known how often they are broken: one trailing blank a method, seen by the rules of Sun, and two
        // imports of whole packages a file, which both forbid.
        Wrong.unless("trailing blanks", found.count(TRAILING), (long) Sources.METHODS * files.size());
        Wrong.unless("imports of whole packages", found.count(STAR), 2L * RULES.length * files.size());
        counts.put("files", found.files);
        return found.counts.hashCode();
    }

    /** Counts what was found, by the check. */
    private static final class Found implements AuditListener {
        private final Map<String, Long> counts = new TreeMap<>();
        private long files;
        private Throwable exception;

        private long count(String check) {
            return counts.entrySet().stream().filter(entry -> entry.getKey().contains(check)).mapToLong(Map.Entry::getValue)
                .sum();
        }

        @Override
        public void auditStarted(AuditEvent event) {}

        @Override
        public void auditFinished(AuditEvent event) {}

        @Override
        public void fileStarted(AuditEvent event) {}

        @Override
        public void fileFinished(AuditEvent event) {
            files++;
        }

        @Override
        public void addError(AuditEvent event) {
            counts.merge(event.getSourceName(), 1L, Long::sum);
        }

        @Override
        public void addException(AuditEvent event, Throwable throwable) {
            exception = throwable;
        }
    }
}
