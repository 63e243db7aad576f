import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A program that is bound by its iterators, as bloat is, which optimises bytecode: it holds the expressions of methods in lists and the
 * definitions of their variables in maps, and each pass goes over all of them. {@code Iterators <expressions in a list>}. For each line, a
 * number of passes, it makes so many and says how long they took, and how often it called hasNext() and next(), of how many
 * iterators: {@code DONE passes=N ns=T calls=C iterators=I}.
 *
 * <p>The work on an expression is that of value numbering: the values of its three operands are looked up in a map by their names, and noted as
 * used; a key is made of them and the operation and looked up in a second map, where it gets the next number if it is not known.
 */
public final class Iterators {
    private static final int EXPRESSIONS = 30_000;
    private static final int METHODS = 20;
    private static final int VARIABLES = 60;
    private static final int OPERATIONS = 7;
    private static final int OPERANDS = 3;

    private static final class Expression {
        final int operation;
        final String[] operands = new String[OPERANDS];
        int value;

        Expression(int seed) {
            operation = seed % OPERATIONS;
            for (int i = 0; i < OPERANDS; i++) {
                operands[i] = "v" + seed * (31 + 6 * i) % VARIABLES;
            }
        }
    }

    private static final class Key {
        final int operation;
        final int[] values;

        Key(int operation, int[] values) {
            this.operation = operation;
            this.values = values;
        }

        @Override
        public int hashCode() {
            return Arrays.hashCode(values) * 31 + operation;
        }

        @Override
        public boolean equals(Object other) {
            if (!(other instanceof Key)) {
                return false;
            }
            Key key = (Key) other;
            return key.operation == operation && Arrays.equals(key.values, values);
        }
    }

    private static final class Method {
        final List<List<Expression>> blocks = new ArrayList<>();
        final Map<String, Integer> definitions = new HashMap<>();
        final Map<Key, Integer> numbers = new HashMap<>();
        final int[] uses = new int[VARIABLES];
    }

    private final List<Method> methods = new ArrayList<>();
    private long sum;
    private long calls;
    private long iterators;

    private Iterators(int length) {
        for (int m = 0; m < METHODS; m++) {
            Method method = new Method();
            for (int e = 0; e < EXPRESSIONS / METHODS; e++) {
                if (e % length == 0) {
                    method.blocks.add(new ArrayList<>());
                }
                method.blocks.get(e / length).add(new Expression(m * 1009 + e));
            }
            for (int v = 0; v < VARIABLES; v++) {
                method.definitions.put("v" + v, v);
            }
            methods.add(method);
        }
    }

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        Iterators program = new Iterators(Integer.parseInt(args[0]));
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
            for (Map.Entry<String, Integer> definition : method.definitions.entrySet()) {
                sum += method.uses[definition.getValue()];
            }
            calls += 2L * method.blocks.size() + 1 + 2L * method.definitions.size() + 1;
            iterators += method.blocks.size() + 2;
        }
        calls += 2L * methods.size() + 1;
        iterators++;
    }

    private void number(Method method, Expression expression) {
        int[] values = new int[OPERANDS];
        for (int i = 0; i < OPERANDS; i++) {
            values[i] = method.definitions.get(expression.operands[i]);
            method.uses[values[i]]++;
        }
        Key key = new Key(expression.operation, values);
        Integer known = method.numbers.get(key);
        if (known == null) {
            known = method.numbers.size();
            method.numbers.put(key, known);
        }
        expression.value = known;
        sum += known;
    }
}
