package jtrace.bench;

import java.util.Map;
import java.util.Properties;
import org.python.core.PyFunction;
import org.python.core.PyInteger;
import org.python.core.PyObject;
import org.python.util.PythonInterpreter;

/** Jython: a Python program of queens, primes, words and objects. The scale is the number of its rounds. */
final class JythonWork implements Work {
    private static final String PROGRAM = String.join("\n",
        "class Shape(object):",
        "    def __init__(self, side): self.side = side",
        "    def area(self): return self.side * self.side",
        "class Half(Shape):",
        "    def area(self): return Shape.area(self) // 2",
        "def queens(n, row, columns, up, down):",
        "    if row == n: return 1",
        "    found = 0",
        "    for c in range(n):",
        "        if c not in columns and row + c not in up and row - c not in down:",
        "            found += queens(n, row + 1, columns + [c], up + [row + c], down + [row - c])",
        "    return found",
        "def primes(limit):",
        "    sieve = [True] * limit",
        "    for i in range(2, int(limit ** 0.5) + 1):",
        "        if sieve[i]:",
        "            for j in range(i * i, limit, i): sieve[j] = False",
        "    return len([i for i in range(2, limit) if sieve[i]])",
        "def words(n):",
        "    counts = {}",
        "    for i in range(n):",
        "        word = 'w%d' % (i * 7 % 100)",
        "        counts[word] = counts.get(word, 0) + 1",
        "    return max(counts.values()) * len(set(w.upper() for w in counts))",
        "def areas(n):",
        "    return sum(s.area() for s in [Shape(4), Half(4)] * n)",
        "def work(rounds):",
        "    total = 0",
        "    for i in xrange(rounds):",
        "        total += queens(7, 0, [], [], []) + primes(10000) + words(10000) + areas(5000)",
        "    return total");
    /** Ways to place seven queens, primes below 10000, words, and 16 + 8 for each pair of shapes. */
    private static final long ROUND = 40 + 1229 + 10_000 + 5000 * 24;

    private PyFunction work;
    private int rounds;
    private long total;

    @Override
    public void setUp(int scale) {
        rounds = scale;
        Properties properties = new Properties();
        properties.setProperty("python.cachedir.skip", "true");
        properties.setProperty("python.import.site", "false");
        PythonInterpreter.initialize(new Properties(), properties, new String[0]);
        PythonInterpreter interpreter = new PythonInterpreter();
        interpreter.exec(PROGRAM);
        work = (PyFunction) interpreter.get("work");
    }

    @Override
    public void iterate() {
        PyObject result = work.__call__(new PyInteger(rounds));
        total = result.asLong();
    }

    @Override
    public long check(Map<String, Long> counts) throws Wrong {
        Wrong.unless("as the total", total, rounds * ROUND);
        counts.put("rounds", (long) rounds);
        return total;
    }
}
