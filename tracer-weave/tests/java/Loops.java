import java.util.Iterator;
import java.util.List;

/** Loops of every shape; how often each is run, and how many iterations it has, is known beforehand. */
public final class Loops {
    static int sum;

    public static void main(String[] args) {
        for (int call = 0; call < 10; call++) {
            forLoop(7);
            whileAnd(5);
            whileOr(5);
            doWhile(6);
            nested(4, 3);
            breaks(3);
            continues(8);
            returns(4);
            caughtInside(5);
            caughtOutside(5);
            labelled(4, 6);
            finallyContinues(5);
            switches(6);
            begins(List.of("a", "b", "c").iterator());
            forEach(List.of("a", "b"));
            oneLine(9);
            oneLineDo(9);
            retries(3);
            never(0);
            longCondition(5);
            assigns(List.of(1, 2, 0));
            throughTernary(5);
            synchronizedLoop(4);
            try {
                thrown(2);
            } catch (IllegalStateException expected) {
                sum++;
            }
        }
        recursive(5);
    }

    static void forLoop(int count) {
        for (int i = 0; i < count; i++) {
            sum += i;
        }
    }

    static void whileAnd(int count) {
        int i = 0;
        while (i < count && sum >= -i) {
            i++;
        }
    }

    static void whileOr(int count) {
        int i = 0;
        while (i < count - 1 || i < count) {
            i++;
            if (i == 2) {
                continue;
            }
            sum++;
        }
    }

    static void doWhile(int count) {
        int i = 0;
        do {
            if (i % 2 == 0) {
                sum++;
            }
            i++;
        } while (i < count);
    }

    static void nested(int outer, int inner) {
        for (int i = 0; i < outer; i++) {
            for (int j = 0; j < inner; j++) {
                sum += j;
            }
            sum--;
        }
    }

    static void breaks(int at) {
        for (int i = 0; ; i++) {
            sum++;
            if (i == at) {
                break;
            }
            sum--;
        }
        sum++;
    }

    static void continues(int count) {
        for (int i = 0; i < count; i++) {
            if (i % 2 == 0) {
                continue;
            }
            sum++;
        }
    }

    static int returns(int at) {
        for (int i = 0; i < 100; i++) {
            if (i == at) {
                return sum;
            }
        }
        return -1;
    }

    static void caughtInside(int count) {
        for (int i = 0; i < count; i++) {
            try {
                fail(i % 2 == 0);
            } catch (IllegalStateException expected) {
                sum++;
            }
        }
    }

    static void caughtOutside(int at) {
        try {
            for (int i = 0; i < 100; i++) {
                fail(i == at);
            }
        } catch (IllegalArgumentException other) {
            sum--;
        } catch (IllegalStateException expected) {
            sum++;
        }
    }

    static void labelled(int outer, int inner) {
        rows:
        for (int i = 0; i < outer; i++) {
            for (int j = 0; j < inner; j++) {
                if (j == 2) {
                    continue rows;
                }
                if (i == 3) {
                    break rows;
                }
                sum++;
            }
        }
    }

    static void finallyContinues(int count) {
        for (int i = 0; i < count; i++) {
            try {
                if (i == 2) {
                    continue;
                }
                sum++;
            } finally {
                sum--;
            }
        }
    }

    static void switches(int count) {
        int i = 0;
        while (true) {
            switch (i++) {
                case 0:
                    continue;
                case 1:
                case 2:
                    sum++;
                    break;
                case 5:
                    return;
                default:
                    sum--;
            }
        }
    }

    // The header of the loop is the first bytecode.
    static void begins(Iterator<String> strings) {
        while (strings.hasNext()) {
            sum += strings.next().length();
        }
    }

    static void forEach(List<String> strings) {
        for (String string : strings) {
            sum += string.length();
        }
    }

    static void oneLine(int count) {
        for (int i = 0; i < count; i++) if (i % 2 == 0) sum++;
    }

    static void oneLineDo(int count) {
        int i = 0;
        do { i++; } while (i < count);
    }

    // Tries again until it is not thrown any more: goes round by an exception only.
    static int retries(int times) {
        int tried = 0;
        while (true) {
            try {
                tried++;
                fail(tried < times);
                return tried;
            } catch (IllegalStateException again) {
                sum++;
            }
        }
    }

    static void never(int count) {
        for (int i = 0; i < count; i++) {
            sum++;
        }
    }

    static void longCondition(int count) {
        int i = 0;
        while (i < count
            && larger(
                sum + 1_000_000, i)
            && i != 99) {
            i++;
            sum++;
        }
    }

    static boolean larger(int one, int other) {
        return one > other;
    }

    static void assigns(List<Integer> numbers) {
        int at = 0;
        int number;
        while ((number = numbers.get(at)) != 0) {
            sum += number;
            at++;
        }
    }

    static void throughTernary(int count) {
        int i = 0;
        while (sum > 0 ? i < count : i < count - 1) {
            i++;
            sum += i;
        }
    }

    static void synchronizedLoop(int count) {
        synchronized (Loops.class) {
            for (int i = 0; i < count; i++) {
                synchronized (Integer.class) {
                    sum++;
                }
            }
        }
    }

    static void thrown(int at) {
        for (int i = 0; i < 100; i++) {
            fail(i == at);
        }
    }

    static void recursive(int depth) {
        for (int i = 0; i < 2; i++) {
            if (depth > 0) {
                recursive(depth - 1);
            }
        }
    }

    static void fail(boolean now) {
        if (now) {
            throw new IllegalStateException("now");
        }
    }
}
