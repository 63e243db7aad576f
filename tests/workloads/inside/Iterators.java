import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A program that is bound by its iterators, as bloat is, which optimises bytecode: it holds the expressions of methods in lists and the
 * definitions of variables in maps, and each pass goes over all of them. For each line, a number of passes, it makes so many and says how
 * long they took and how often it called hasNext() and next(): {@code DONE passes=N ns=T calls=C iterators=I}.
 *
 * <p>The work on an element is that of value numbering: the values of the expression's two variables are looked up in a map, mixed with
 * its operation, and the number of the result is looked up in another map, or put there where it is not known.
 */
public final class Iterators {
    private static final int METHODS = 100;
    private static final int BLOCKS = 10;
    private static final int EXPRESSIONS = 12;
    private static final int VARIABLES = 30;

    private static final class Expression {
        final int operation;
        final int left;
        final int right;
        int value;

        Expression(int seed) {
            operation = seed % 7;
            left = seed * 31 % VARIABLES;
            right = seed * 17 % VARIABLES;
        }
    }

    private static final class Method {
        final List<List<Expression>> blocks = new ArrayList<>();
        final Map<Integer, Integer> definitions = new HashMap<>();
        final Map<Integer, Integer> numbers = new HashMap<>();
    }

    private final List<Method> methods = new ArrayList<>();
    private long sum;
    private long calls;
    private long iterators;

    private Iterators() {
        for (int m = 0; m < METHODS; m++) {
            Method method = new Method();
            for (int b = 0; b < BLOCKS; b++) {
                List<Expression> block = new ArrayList<>();
                for (int e = 0; e < EXPRESSIONS; e++) {
                    block.add(new Expression(m * 1000 + b * 100 + e));
                }
                method.blocks.add(block);
            }
            for (int v = 0; v < VARIABLES; v++) {
                method.definitions.put(v, v * m);
            }
            methods.add(method);
        }
    }

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        Iterators program = new Iterators();
        System.out.println("READY");
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            int passes = Integer.parseInt(line);
            program.calls = 0;
            program.iterators = 0;
            long begin = System.nanoTime();
            for (int i = 0; i < passes; i++) {
                program.pass();
            }
            long ns = System.nanoTime() - begin;
            System.out.println("DONE passes=" + passes + " ns=" + ns + " calls=" + program.calls + " iterators=" + program.iterators
                    + " odd=" + (program.sum & 1));
        }
    }

    /** Every loop over n elements makes 2n + 1 calls of its iterator. */
    private void pass() {
        for (Method method : methods) {
            method.numbers.clear();
            for (List<Expression> block : method.blocks) {
                for (Expression expression : block) {
                    number(method, expression);
                }
                calls += 2L * block.size() + 1;
            }
            for (Map.Entry<Integer, Integer> definition : method.definitions.entrySet()) {
                sum += definition.getKey() ^ definition.getValue();
            }
            calls += 2L * method.blocks.size() + 1 + 2L * method.definitions.size() + 1;
            iterators += method.blocks.size() + 2;
        }
        calls += 2L * methods.size() + 1;
        iterators++;
    }

    private void number(Method method, Expression expression) {
        int left = method.definitions.get(expression.left);
        int right = method.definitions.get(expression.right);
        Integer key = (expression.operation * 10_007 + left) * 10_007 + right;
        Integer known = method.numbers.get(key);
        if (known == null) {
            known = method.numbers.size();
            method.numbers.put(key, known);
        }
        expression.value = known;
        sum += known;
    }
}
