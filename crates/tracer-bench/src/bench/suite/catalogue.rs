//! The programs of the suite: where each comes from, what is compiled for it, and how large its inputs are.

use super::super::{java::Source, program::Size};

/// One program, as it is known before anything is looked for.
pub(super) struct Entry {
    pub(super) name: &'static str,
    pub(super) what: &'static str,
    /// The Debian package that brings it, and by its dependencies all of `jars`; absent for what is in every JDK.
    pub(super) package: Option<&'static str>,
    /// Jars by their names in `/usr/share/java`; the program's own is the first.
    pub(super) jars: &'static [&'static str],
    /// The class that keeps the agreement for it.
    pub(super) class: &'static str,
    /// Sources beyond those that all have.
    pub(super) sources: &'static [Source],
    /// Scales of the small, the default and the large inputs. Time grows with the scale; that of a picture with its square.
    pub(super) scales: [u32; 3],
    /// Packages of the program itself that look like those of a JDK.
    pub(super) own: &'static [&'static str],
}

impl Entry {
    pub(super) const fn scale(&self, size: Size) -> u32 {
        match size {
            Size::Small => self.scales[0],
            Size::Default => self.scales[1],
            Size::Large => self.scales[2],
        }
    }
}

macro_rules! source {
    ($name:literal) => {
        ($name, include_str!(concat!("../../../bench/", $name)))
    };
}

/// What every program is compiled with.
pub(super) const COMMON: [Source; 4] =
    [source!("Work.java"), source!("Memory.java"), source!("Promotion.java"), source!("Suite.java")];

const WORDS: Source = source!("Words.java");
const MADE: Source = source!("Sources.java");
const DOCUMENTS: Source = source!("Documents.java");

const LUCENE: &[&str] = &[
    "lucene-core-4.10.4",
    "lucene-analyzers-common-4.10.4",
    "lucene-queryparser-4.10.4",
    "lucene-queries-4.10.4",
    "lucene-sandbox-4.10.4",
];

/// All of them, by name.
pub(super) static ENTRIES: &[Entry] = &[
    Entry {
        name: "batik",
        what: "draws curves and gradients of an SVG into PNGs",
        package: Some("libbatik-java"),
        jars: &["batik-all", "xmlgraphics-commons", "xml-apis-ext"],
        class: "BatikWork",
        sources: &[source!("BatikWork.java")],
        scales: [1, 10, 40],
        own: &[],
    },
    Entry {
        name: "checkstyle",
        what: "holds generated classes against the rules of Sun and of Google",
        package: Some("checkstyle"),
        jars: &[
            "checkstyle",
            "antlr4-runtime",
            "antlr",
            "commons-lang3",
            "commons-beanutils",
            "commons-collections3",
            "commons-logging",
            "guava",
            "picocli",
            "Saxon-HE",
            "reflections",
        ],
        class: "CheckstyleWork",
        sources: &[source!("CheckstyleWork.java"), MADE],
        scales: [1, 30, 120],
        own: &[],
    },
    Entry {
        name: "ecj",
        what: "compiles generated classes with Eclipse's compiler",
        package: Some("libeclipse-jdt-core-java"),
        jars: &["eclipse-jdt-core"],
        class: "EcjWork",
        sources: &[source!("EcjWork.java"), MADE],
        scales: [2, 100, 400],
        own: &[],
    },
    Entry {
        name: "fop",
        what: "sets books of text, lists and tables into PDF",
        package: Some("libfop-java"),
        jars: &[
            "fop-core",
            "fop-util",
            "fop-events",
            "fop",
            "commons-io",
            "commons-logging",
            "batik-all",
            "xmlgraphics-commons",
            "xml-apis-ext",
            "fontbox2",
        ],
        class: "FopWork",
        sources: &[source!("FopWork.java"), WORDS],
        scales: [1, 50, 200],
        own: &[],
    },
    Entry {
        name: "h2",
        what: "transfers between accounts and reports on them, in memory",
        package: Some("libh2-java"),
        jars: &["h2"],
        class: "H2Work",
        sources: &[source!("H2Work.java")],
        scales: [2, 180, 720],
        own: &[],
    },
    Entry {
        name: "javac",
        what: "compiles generated classes with the JDK's own compiler",
        package: None,
        jars: &[],
        class: "JavacWork",
        sources: &[source!("JavacWork.java"), MADE],
        scales: [2, 30, 120],
        own: &["com/sun/tools/javac/", "com/sun/source/"],
    },
    Entry {
        name: "jython",
        what: "runs a Python program of queens, primes, words and objects",
        package: Some("jython"),
        jars: &[
            "jython",
            "antlr3-runtime",
            "asm",
            "guava",
            "icu4j",
            "jffi",
            "jnr-constants",
            "jnr-ffi",
            "jnr-netdb",
            "jnr-posix",
            "commons-compress",
            "jline2",
            "netty-buffer",
            "netty-codec",
            "netty-common",
            "netty-handler",
            "netty-resolver",
            "netty-transport",
        ],
        class: "JythonWork",
        sources: &[source!("JythonWork.java")],
        scales: [8, 400, 1600],
        own: &[],
    },
    Entry {
        name: "luindex",
        what: "writes a Lucene index of generated texts to files",
        package: Some("liblucene4.10-java"),
        jars: LUCENE,
        class: "LuindexWork",
        sources: &[source!("LuindexWork.java"), DOCUMENTS, WORDS],
        scales: [5, 400, 1600],
        own: &[],
    },
    Entry {
        name: "lusearch",
        what: "searches a Lucene index with a thread for each CPU",
        package: Some("liblucene4.10-java"),
        jars: LUCENE,
        class: "LusearchWork",
        sources: &[source!("LusearchWork.java"), DOCUMENTS, WORDS],
        scales: [2, 70, 280],
        own: &[],
    },
    Entry {
        name: "sunflow",
        what: "follows rays through a hall of mirrors and glass with a thread for each CPU",
        package: Some("libsunflow-java"),
        jars: &["sunflow"],
        class: "SunflowWork",
        sources: &[source!("SunflowWork.java")],
        scales: [8, 48, 96],
        own: &[],
    },
    Entry {
        name: "tomcat",
        what: "serves pages, sessions and files to clients in the same JVM, over loopback",
        package: Some("libtomcat9-java"),
        jars: &[
            "tomcat9-catalina",
            "tomcat9-coyote",
            "tomcat9-juli",
            "tomcat9-util",
            "tomcat9-util-scan",
            "tomcat9-api",
            "tomcat9-servlet-api",
            "tomcat9-annotations-api",
            "tomcat9-jni",
            "tomcat9-jaspic-api",
            "tomcat9-el-api",
            "tomcat9-jsp-api",
        ],
        class: "TomcatWork",
        sources: &[source!("TomcatWork.java"), WORDS],
        scales: [2, 80, 320],
        own: &["javax/servlet/"],
    },
    Entry {
        name: "xalan",
        what: "turns lists of orders into pages by a stylesheet",
        package: Some("libxalan2-java"),
        jars: &["xalan2", "serializer", "xercesImpl"],
        class: "XalanWork",
        sources: &[source!("XalanWork.java")],
        scales: [10, 500, 2000],
        own: &[],
    },
];
