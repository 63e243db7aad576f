import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What one thread saw of its own stacks. Frames and stacks are kept once; nothing is written while events are made. */
final class Notes {
    private static final StackWalker WALKER = StackWalker.getInstance(StackWalker.Option.SHOW_HIDDEN_FRAMES);

    private final Map<String, Integer> frames = new HashMap<>();
    private final Map<List<Integer>, Integer> stacks = new HashMap<>();
    private final List<String> lines = new ArrayList<>();
    private final List<Integer> current = new ArrayList<>();

    /** Notes the stack of the caller, whose next call on the same line is the probe. */
    void take(Kind kind, Shape shape, String key) {
        current.clear();
        WALKER.forEach(this::add);
        // The innermost frame is this method.
        List<Integer> stack = new ArrayList<>(current.subList(1, current.size()));
        line(kind, shape.name(), key, stack);
    }

    /** Notes the same of a virtual thread, which belongs to no shape. */
    void takeVirtual(Kind kind, String shape, String key) {
        current.clear();
        WALKER.forEach(this::add);
        line(kind, shape, key, new ArrayList<>(current.subList(1, current.size())));
    }

    /** Notes a stack without a Java frame. */
    void takeEmpty(Kind kind, Shape shape, String key) {
        line(kind, shape.name(), key, List.of());
    }

    private void line(Kind kind, String shape, String key, List<Integer> stack) {
        Integer id = stacks.computeIfAbsent(stack, any -> stacks.size());
        lines.add("event " + kind.name().toLowerCase() + " " + shape.toLowerCase() + " " + tid() + " " + key + " " + id);
    }

    private void add(StackWalker.StackFrame frame) {
        String text = frame.getClassName() + " " + frame.getMethodName() + " " + frame.getLineNumber() + " "
            + frame.getByteCodeIndex();
        current.add(frames.computeIfAbsent(text, any -> frames.size()));
    }

    /** Kernel's number of the thread that runs this: of the carrier, where it is a virtual one. */
    private static String tid() {
        try {
            return Files.readSymbolicLink(Paths.get("/proc/thread-self")).getFileName().toString();
        } catch (java.io.IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    /** Writes everything; `section` makes its numbers different from those of other threads. */
    void write(PrintWriter out, int section) {
        frames.forEach((text, id) -> out.println("frame " + section + "." + id + " " + text));
        stacks.forEach((stack, id) -> {
            StringBuilder line = new StringBuilder("stack " + section + "." + id);
            for (int frame : stack) {
                line.append(' ').append(section).append('.').append(frame);
            }
            out.println(line);
        });
        for (String line : lines) {
            int last = line.lastIndexOf(' ') + 1;
            out.println(line.substring(0, last) + section + "." + line.substring(last));
        }
    }
}
