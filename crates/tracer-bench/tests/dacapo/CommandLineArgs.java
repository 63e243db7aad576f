package org.dacapo.harness;

public class CommandLineArgs {
    final String[] words;

    CommandLineArgs(String[] words) {
        this.words = words;
    }

    String of(String option) {
        for (int i = 0; i + 1 < words.length; i++) {
            if (words[i].equals(option)) {
                return words[i + 1];
            }
        }
        throw new IllegalArgumentException("no " + option);
    }
}
