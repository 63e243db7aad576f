import java.lang.ref.SoftReference;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What grows for a while, or again and again, and has a bound. */
class Bounded implements Growing.Program {
    static final int BOUND = 3000;

    static class Page {
        final byte[] text = new byte[50];
    }

    /** Full in the second step. */
    static final Map<Integer, Page> CACHE = new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Integer, Page> eldest) {
            return size() > BOUND;
        }
    };

    /** Filled once. */
    static final List<Page> AT_THE_START = new ArrayList<>();
    /** Filled in every other step, and written out in the next one. */
    static final List<Page> BUFFER = new ArrayList<>();
    /** Words of a language: new ones become rare. */
    static final Map<Integer, Page> WORDS = new HashMap<>();
    /** As many as ever, and always others. */
    static final Map<Integer, Page> IN_WORK = new HashMap<>();
    /** Collectors may clear them. */
    static final List<SoftReference<byte[]>> SOFT = new ArrayList<>();

    Bounded() {
        for (int i = 0; i < 100; i++) {
            SOFT.add(new SoftReference<>(new byte[0]));
        }
    }

    @Override
    public void step(int number) {
        for (int i = 0; i < Growing.MANY; i++) {
            CACHE.put(number * Growing.MANY + i, new Page());
            IN_WORK.put(i, new Page());
        }
        for (int i = 0; number == 0 && i < 5 * Growing.MANY; i++) {
            AT_THE_START.add(new Page());
        }
        if (number % 2 == 0) {
            for (int i = 0; i < Growing.MANY; i++) {
                BUFFER.add(new Page());
            }
        } else {
            BUFFER.clear();
        }
        for (int i = 0; i < Growing.MANY >> 3 * number; i++) {
            WORDS.put(WORDS.size(), new Page());
        }
        for (int i = 0; i < SOFT.size(); i++) {
            SOFT.set(i, new SoftReference<>(new byte[1000 * (number + 1)]));
        }
    }
}
