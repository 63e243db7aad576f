package incidents;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.lang.reflect.InvocationTargetException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What all programs of this folder share: how they say that they are ready, how they end, and what Java 11 cannot name.
 * Nothing here waits or computes on behalf of a program, so that its own line is the innermost one that does.
 */
public final class Incident {
    private static final long LIFE_MS = 150_000;

    private static final Queue<Path> TEMPORARY = new ConcurrentLinkedQueue<>();
    private static final Queue<Process> CHILDREN = new ConcurrentLinkedQueue<>();

    private Incident() {}

    /** Says that the incident is under way. From here on the JVM ends with its standard input, and after 150 s in any case. */
    public static void ready() {
        endWithInput();
        System.out.println("READY");
        System.out.flush();
    }

    /** For main, when everything else is done by other threads: never returns. */
    public static void untilStdinEnds() throws InterruptedException {
        while (true) {
            Thread.sleep(LIFE_MS);
        }
    }

    /** What a child process calls instead of {@link #ready()}: nothing but a line for its parent, like a port. */
    public static void readyAsChild(Object line) {
        endWithInput();
        System.out.println(line);
        System.out.flush();
    }

    private static void endWithInput() {
        Thread input = new Thread(Incident::readToTheEnd, "stdin");
        Thread limit = new Thread(Incident::outlive, "time-limit");
        for (Thread thread : Arrays.asList(input, limit)) {
            thread.setDaemon(true);
            thread.start();
        }
    }

    private static void readToTheEnd() {
        try {
            while (System.in.read() >= 0) {
                // What is said to it does not matter.
            }
        } catch (IOException e) {
            // That is an end, too.
        }
        end();
    }

    private static void outlive() {
        try {
            Thread.sleep(LIFE_MS);
        } catch (InterruptedException e) {
            // Then it ends earlier.
        }
        end();
    }

    private static void end() {
        CHILDREN.forEach(Process::destroyForcibly);
        // Threads may still write into a folder while it is deleted.
        for (int i = 0; i < 5; i++) {
            TEMPORARY.forEach(Incident::delete);
        }
        Runtime.getRuntime().halt(0);
    }

    private static void delete(Path path) {
        try (Stream<Path> inside = Files.walk(path)) {
            inside.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
        } catch (IOException | UncheckedIOException e) {
            // It is gone already.
        }
    }

    /** A new empty file that is deleted at the end. */
    public static Path temporaryFile(String prefix, String suffix) throws IOException {
        Path file = Files.createTempFile(prefix, suffix);
        TEMPORARY.add(file);
        return file;
    }

    /** A new empty folder that is deleted at the end, with all that is in it. */
    public static Path temporaryFolder(String prefix) throws IOException {
        Path folder = Files.createTempDirectory(prefix);
        TEMPORARY.add(folder);
        return folder;
    }

    /** The command that runs another main class of this class path in a small JVM of its own. */
    public static List<String> command(Class<?> main, Object... args) {
        String java = System.getProperty("java.home") + "/bin/java";
        List<String> command = new ArrayList<>(Arrays.asList(java, "-Xmx48m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
            "-cp", System.getProperty("java.class.path"), main.getName()));
        command.addAll(Stream.of(args).map(Object::toString).collect(Collectors.toList()));
        return command;
    }

    /** Runs another main class of this class path in a process of its own, which ends with this one. */
    public static Process child(Class<?> main, Object... args) throws IOException {
        return adopt(new ProcessBuilder(command(main, args)).redirectError(Redirect.INHERIT).start());
    }

    /** Sees to it that this process does not outlive the JVM. */
    public static Process adopt(Process process) {
        CHILDREN.removeIf(child -> !child.isAlive());
        CHILDREN.add(process);
        return process;
    }

    /** Starts a virtual thread: JDK 21 and later. */
    public static Thread virtual(Runnable task) {
        return (Thread) call(Thread.class, "startVirtualThread", Runnable.class, task);
    }

    /** An executor that starts a virtual thread for each task: JDK 21 and later. */
    public static ExecutorService virtualExecutor() {
        return (ExecutorService) call(Executors.class, "newVirtualThreadPerTaskExecutor", null, null);
    }

    private static Object call(Class<?> type, String method, Class<?> parameter, Object argument) {
        try {
            return parameter == null
                ? type.getMethod(method).invoke(null)
                : type.getMethod(method, parameter).invoke(null, argument);
        } catch (NoSuchMethodException | IllegalAccessException e) {
            throw new UnsupportedOperationException("virtual threads need JDK 21", e);
        } catch (InvocationTargetException e) {
            throw new IllegalStateException(e.getCause());
        }
    }

    /** As {@link #ready()}, for a main thread that has nothing else to do. */
    public static void readyUntilTheEnd() {
        ready();
        try {
            untilStdinEnds();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Sleeps; an interrupt ends the program's thread. */
    public static void sleep(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Starts a daemon thread. */
    public static Thread start(String name, Runnable body) {
        Thread thread = new Thread(body, name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }
}
