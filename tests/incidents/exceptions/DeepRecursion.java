/*
 * incident: A parser recurses until the stack overflows for expressions that refer to themselves, and says "invalid" each time.
 * names: exceptions|exception-rate|cpu-hot-line|cpu-hot-method Expression.|StackOverflowError
 * load: cpu
 * jfr: jdk.ExecutionSample Expression
 */
package com.acme.formula;

import incidents.Incident;
import java.util.HashMap;
import java.util.Map;

public final class DeepRecursion {
    static final class Expression {
        private final Map<String, String> definitions = new HashMap<>();

        int depth(String name) {
            String next = definitions.get(name);
            return next == null ? 0 : 1 + depth(next);
        }

        boolean isValid(String name) {
            try {
                return depth(name) >= 0;
            } catch (StackOverflowError e) {
                return false;
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Expression sheet = new Expression();
        sheet.definitions.put("a1", "b2");
        sheet.definitions.put("b2", "a1");
        Incident.start("sheet", () -> {
            while (!sheet.isValid("a1")) {
                sheet.definitions.put("c3", "d4");
            }
        });
        Thread.sleep(1500);
        Incident.readyUntilTheEnd();
    }
}
