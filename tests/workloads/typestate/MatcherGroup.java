import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Matchers that are asked for groups after a match, in all ways there are, and some that are asked before or after a reset. */
public final class MatcherGroup {
    private static final Pattern WORD = Pattern.compile("(?<first>[a-z])([a-z]*)");
    private static long sum;

    private MatcherGroup() {}

    public static void main(String[] args) throws Exception {
        Protocol.serve(args, "MatcherGroup", MatcherGroup::good, MatcherGroup::bad);
    }

    private static void good(Protocol protocol) {
        for (int i = 0; i < Protocol.OBJECTS; i++) {
            Matcher matcher = WORD.matcher("one two three");
            while (matcher.find()) {
                sum += matcher.group().length() + matcher.group("first").length() + matcher.start(2) + matcher.end();
            }
            matcher.reset("four");
            if (matcher.matches()) {
                sum += matcher.group(1).length() + matcher.toMatchResult().group().length();
            }
            if (matcher.find(1)) {
                sum += matcher.group().length();
            }
            if (matcher.lookingAt()) {
                sum += matcher.end(1);
            }
            sum += WORD.matcher("one two").replaceAll("$2${first}").length();
            sum += "a1b2c".split("[0-9]").length + "one two".replaceAll("(o)", "<$1>").length();
            sum += WORD.matcher("one two").results().count();
            sum += WORD.matcher("one two").replaceAll(result -> result.group(1)).length();
        }
    }

    private static void bad(Protocol protocol) {
        for (int i = 0; i < Protocol.OBJECTS; i++) {
            refused(WORD.matcher("one two"));
            Matcher reset = WORD.matcher("one two");
            if (reset.find()) {
                sum += reset.end();
            }
            reset.reset();
            refused(reset);
            protocol.illegal(2);
        }
    }

    private static void refused(Matcher matcher) {
        try {
            sum += matcher.group(1).length();
            Protocol.unreachable("a group");
        } catch (IllegalStateException expected) {
            sum++;
        }
    }
}
