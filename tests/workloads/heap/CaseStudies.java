import java.lang.ref.Cleaner;
import java.util.ArrayList;
import java.util.List;
import java.util.Scanner;

/**
 * Three programs whose memory somebody had to understand once (Cagdas Bozman, Profilage mémoire d'applications OCaml, 2014, section 7.2),
 * in Java: a prover that builds equal terms again and again, a parser that keeps what it has parsed, and a server with channels that
 * its finalizers hold. Each as it was, and mended.
 */
public class CaseStudies {
    /** Formulas, with a name at each leaf. */
    static class Term {
        final Term left;
        final Term right;
        final String name;

        Term(Term left, Term right, String name) {
            this.left = left;
            this.right = right;
            this.name = name;
        }
    }

    static class Prover {
        static final List<Term> PROOFS = new ArrayList<>();
        final boolean isMended;

        Prover(boolean isMended) {
            this.isMended = isMended;
        }

        /** A conjunction of so many. */
        static Term conjunction(int depth) {
            Term all = null;
            for (int i = 0; i < depth; i++) {
                all = new Term(all, null, "variable-" + i);
            }
            return all;
        }

        /** Gives bound variables new names. Here none has to have one. */
        Term rename(Term term) {
            List<Term> above = new ArrayList<>();
            for (Term at = term; at != null; at = at.left) {
                above.add(at);
            }
            Term renamed = null;
            for (int i = above.size() - 1; i >= 0; i--) {
                Term old = above.get(i);
                boolean isSame = isMended && renamed == old.left;
                renamed = isSame ? old : new Term(renamed, old.right, new String(old.name.toCharArray()));
            }
            return renamed;
        }
    }

    static class Parser {
        static class Environment {
            Object[] values = new Object[16];
        }

        static class Tree {
            final Tree next;
            final byte[] text;

            Tree(Tree next, int number) {
                this.next = next;
                text = new byte[1000];
                for (int i = 0; i < text.length; i++) {
                    text[i] = (byte) (number * 31 + i + 1);
                }
            }
        }

        static final Environment ENVIRONMENT = new Environment();

        /** How many nodes it has, which is all that the caller wants to know. */
        static int parse(int nodes) {
            Tree tree = null;
            for (int i = 0; i < nodes; i++) {
                tree = new Tree(tree, i);
            }
            ENVIRONMENT.values[3] = tree;
            return nodes;
        }

        static void clear() {
            ENVIRONMENT.values = new Object[16];
        }
    }

    static class Server {
        static final Cleaner CLEANER = Cleaner.create();

        static class Channel {
            final int[] messages = new int[27_000];
            Connection of;

            Channel(int number) {
                for (int i = 0; i < messages.length; i++) {
                    messages[i] = number + i + 1;
                }
            }

            void close() {
                of = null;
            }
        }

        static class Connection {
            final Channel channel;

            Connection(int number, boolean isMended) {
                channel = new Channel(number);
                if (isMended) {
                    CLEANER.register(this, () -> {});
                } else {
                    // What is to be done when nobody needs the connection needs the connection.
                    channel.of = this;
                    CLEANER.register(this, channel::close);
                }
            }
        }
    }

    static void run(String study, boolean isMended, int size) {
        switch (study) {
            case "prover":
                Term formula = Prover.conjunction(999);
                Prover.PROOFS.add(formula);
                for (int i = 0; i < size; i++) {
                    Prover.PROOFS.add(new Prover(isMended).rename(formula));
                }
                break;
            case "parser":
                Parser.parse(size);
                if (isMended) {
                    Parser.clear();
                }
                break;
            default:
                for (int i = 0; i < size; i++) {
                    new Server.Connection(i, isMended);
                }
        }
    }

    public static void main(String[] arguments) {
        run(arguments[0], arguments[1].equals("mended"), Integer.parseInt(arguments[2]));
        // What nobody needs is gone, as in the snapshots of then.
        System.gc();
        System.out.println("READY");
        Scanner in = new Scanner(System.in);
        while (in.hasNextLine()) {
            in.nextLine();
            System.out.println("DONE");
        }
    }
}
