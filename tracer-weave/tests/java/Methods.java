import java.util.function.IntSupplier;

/** Methods and constructors of every shape, calls and fields in them; how often each is come to is known beforehand. */
public class Methods {
    static class Base {
        final int value;

        Base(int value) {
            this.value = value;
        }
    }

    static class Derived extends Base {
        static int made;
        long total;

        // Branches, calls and a new object before the superclass's constructor.
        Derived(int value) {
            super(value > 2 ? new Base(value).value : half(value));
            total = value;
            made++;
            if (value < 0) {
                throw new IllegalArgumentException("negative");
            }
        }

        Derived() {
            this(4);
            for (int i = 0; i < 3; i++) {
                total += i;
            }
        }

        static int half(int value) {
            return value / 2;
        }

        synchronized long locked(int more) {
            if (more == 0) {
                return total;
            }
            total += more;
            total += this.total > 0 ? 1 : 2;
            return total;
        }
    }

    interface Greeting {
        default int length(String name) {
            return name.length() + prefix();
        }

        static int none() {
            return 0;
        }

        int prefix();
    }

    static int initialised;

    static {
        initialised = 1;
        for (int i = 0; i < 5; i++) {
            initialised += i;
        }
    }

    public static void main(String[] args) {
        for (int call = 0; call < 10; call++) {
            new Derived(3);
            new Derived();
            try {
                new Derived(-1);
            } catch (IllegalArgumentException expected) {
                initialised++;
            }
            Derived derived = new Derived(1);
            derived.locked(0);
            derived.locked(5);
            arguments(1, 2L, 3.0f, 4.0, "five", new int[6], true, (byte) 8);
            Greeting greeting = () -> 2;
            greeting.length("ab");
            Greeting.none();
            calls(call);
            finallies(call);
            deep(3);
            fields(derived);
            text(call % 3);
            lines(call);
        }
    }

    static double arguments(int a, long b, float c, double d, String e, int[] f, boolean g, byte h) {
        return a + b + c + d + e.length() + f.length + h;
    }

    // A call in a try, one outside, one whose arguments are on the stack, one that is branched to.
    static int calls(int call) {
        int sum = 0;
        try {
            sum += risky(call % 2 == 0);
        } catch (IllegalStateException expected) {
            sum--;
        }
        sum += plain(plain(sum));
        sum += 3 * plain(call > 4 ? 1 : 2);
        try {
            try {
                risky(true);
            } finally {
                sum++;
            }
        } catch (RuntimeException expected) {
            sum += plain(1);
        }
        return sum;
    }

    static int plain(int value) {
        return value;
    }

    static int risky(boolean fails) {
        if (fails) {
            throw new IllegalStateException("risky");
        }
        return 1;
    }

    static int finallies(int call) {
        try {
            if (call % 2 == 0) {
                return plain(call);
            }
            call++;
        } finally {
            initialised++;
        }
        return call;
    }

    static void deep(int depth) {
        if (depth == 0) {
            return;
        }
        try {
            if (depth == 1) {
                throw new IllegalStateException("deep");
            }
            deep(depth - 1);
        } catch (IllegalStateException through) {
            if (depth < 3) {
                throw through;
            }
        }
    }

    static void fields(Derived derived) {
        derived.total = derived.total + 1;
        initialised += Derived.made;
        IntSupplier supplier = () -> initialised;
        supplier.getAsInt();
    }

    static String text(int number) {
        String name;
        switch (number) {
            case 0:
                name = "zero";
                break;
            case 1:
                name = "one";
                break;
            default:
                name = "many";
        }
        return name + number;
    }

    static int lines(int call) {
        int sum = 0;
        for (int i = 0; i < 4; i++) {
            sum += i; // first
            if (i == 2 && call % 2 == 0) {
                continue;
            }
            sum += risky(false); // last
            sum--;
        }
        try {
            risky(true); // risky
        } catch (IllegalStateException expected) {
            sum++; // caught
        }
        return sum;
    }
}
