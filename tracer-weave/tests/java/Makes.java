// Objects and arrays, made as often as it says beside each.
public final class Makes {
    static Object kept;
    static long sum;

    private final Object[] mine;

    Makes(Object[] mine) {
        this.mine = mine;
    }

    // In the argument of a constructor that is called before the object is initialised.
    Makes(int length) {
        this(new Object[length]); // references: length 2
    }

    static final class Inner extends java.util.ArrayList<Object> {
        private static final long serialVersionUID = 1;

        Inner() {
            super(new Makes(2).mine.length); // new
        }
    }

    static void objects(int times) {
        for (int i = 0; i < times; i++) {
            kept = new Object(); // new
            kept = i % 2 == 0 ? new StringBuilder() : null; // new, every other time
            kept = new Inner(); // new
        }
    }

    static void arrays(int times) {
        for (int i = 0; i < times; i++) {
            kept = new boolean[3];
            kept = new byte[i];
            kept = new char[4];
            kept = new short[5];
            kept = new int[6];
            kept = new float[7];
            kept = new long[8];
            kept = new double[9];
            kept = new String[10];
            kept = new int[11][];
            kept = new long[] {1, 2, 3};
        }
    }

    static void nested(int times) {
        for (int i = 0; i < times; i++) {
            kept = new int[2][3];
            kept = new byte[2][0][5];
            kept = new double[2][3][4][];
            kept = new String[i % 2][6];
            kept = new char[0][7];
        }
    }

    static int copies(int times) {
        int[] of = {1, 2, 3, 4};
        String[][] names = new String[2][1];
        for (int i = 0; i < times; i++) {
            of = of.clone();
            names = names.clone();
            kept = of;
        }
        return of.length + names.length;
    }

    // What is not made is not counted.
    static void failing(int times) {
        for (int i = 0; i < times; i++) {
            try {
                kept = new int[-1];
            } catch (NegativeArraySizeException expected) {
                sum++;
            }
            try {
                kept = new long[2][-1];
            } catch (NegativeArraySizeException expected) {
                sum++;
            }
            try {
                int[] none = times < 0 ? new int[1] : null;
                none = none.clone();
                kept = none;
            } catch (NullPointerException expected) {
                sum++;
            }
        }
    }

    static Object branches(int which, long wide, double also) {
        Object made = which == 0 ? new int[(int) wide][which + 1] : new byte[2][which][1];
        for (int i = 0; i < 2; i++) {
            try {
                made = new Object[] {made, new int[i][2]};
            } finally {
                sum += (long) also;
            }
        }
        return made;
    }

    public static void main(String[] args) {
        objects(10);
        arrays(10);
        nested(10);
        copies(10);
        failing(10);
        for (int i = 0; i < 10; i++) {
            kept = branches(i % 2, 3, 1.0);
        }
    }
}
