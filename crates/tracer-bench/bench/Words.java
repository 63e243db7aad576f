package jtrace.bench;

import java.util.Random;

/** Text of made-up words, some of them frequent and most of them rare, as in a language. */
final class Words {
    private static final String[] SYLLABLES = {
        "ka", "lo", "mi", "ne", "ru", "sa", "to", "vi", "be", "du", "fa", "go", "hi", "je", "po", "zu",
    };
    private static final int VOCABULARY = 8000;

    private final Random random;

    /** The same text for the same seed. */
    Words(long seed) {
        random = new Random(seed);
    }

    /** A word; the cube makes low numbers frequent. */
    String word() {
        double roll = random.nextDouble();
        return word((int) (roll * roll * roll * VOCABULARY));
    }

    /** The word of a number: longer for higher ones. */
    static String word(int number) {
        StringBuilder word = new StringBuilder();
        for (int rest = number + SYLLABLES.length; rest > 0; rest /= SYLLABLES.length) {
            word.append(SYLLABLES[rest % SYLLABLES.length]);
        }
        return word.toString();
    }

    /** So many words, in sentences. */
    String sentences(int count) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < count; i++) {
            text.append(word()).append(i % 11 == 10 ? ". " : " ");
        }
        return text.toString();
    }
}
