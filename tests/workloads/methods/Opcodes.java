import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.function.IntSupplier;

/**
 * Calls by each of the five instructions that call, all in one method, and none of the same method from two of them. What
 * stands at which bytecode index is for `javap` to say.
 */
public class Opcodes {
    private static final int ROUNDS = 200;
    private static final MethodHandle HANDLE = handle();
    private static int sink;

    /** What an interface call finds. */
    interface Shape {
        int area();
    }

    static class Square implements Shape {
        @Override
        public int area() {
            return 4;
        }

        int side() {
            return 2;
        }

        /** Called by `super`, not by the class of the receiver. */
        int corners() {
            return 4;
        }
    }

    /** A class whose methods replace others, so that those are called by a table. */
    static final class Cube extends Square {
        @Override
        int side() {
            return 3;
        }

        @Override
        int corners() {
            return 2 * super.corners();
        }

        /** Nothing can replace it: the JVM calls it in a quicker way. */
        int faces() {
            return 6;
        }
    }

    public static void main(String[] args) throws Exception {
        Session.serve(session -> {
            for (int i = 0; i < ROUNDS; i++) {
                calls(i);
            }
            session.expect("calls", "Opcodes.calls", ROUNDS);
            by(session, "invokespecial", "Opcodes.calls->Opcodes$Cube.<init>");
            by(session, "invokestatic", "Opcodes.calls->Opcodes.fixed");
            by(session, "invokevirtual", "Opcodes.calls->Opcodes$Cube.side");
            by(session, "invokevirtual", "Opcodes.calls->Opcodes$Cube.faces");
            by(session, "invokeinterface", "Opcodes.calls->Opcodes$Square.area");
            by(session, "invokevirtual", "Opcodes.calls->Opcodes$Cube.corners");
            by(session, "invokespecial", "Opcodes$Cube.corners->Opcodes$Square.corners");
            // What these two call is the JVM's own business; that they do is not.
            session.expect("form", "invokedynamic:Opcodes.calls", ROUNDS);
            session.expect("form", "invokevirtual:Opcodes.calls", ROUNDS);
        });
    }

    private static void by(Session session, String instruction, String edge) {
        session.expect("opcode", instruction + ":" + edge, ROUNDS);
    }

    static void calls(int i) throws Exception {
        Cube cube = new Cube();
        Square square = cube;
        Shape shape = cube;
        sink += fixed() + square.side() + cube.faces() + shape.area() + cube.corners();
        // The call makes the object.
        IntSupplier made = () -> i;
        try {
            // Not the handle's target, but a form of it is what this calls.
            sink += (int) HANDLE.invokeExact(made);
        } catch (Throwable impossible) {
            throw new AssertionError(impossible);
        }
    }

    static int fixed() {
        return 1;
    }

    static int handled(IntSupplier made) {
        return made.getAsInt();
    }

    private static MethodHandle handle() {
        try {
            MethodType type = MethodType.methodType(int.class, IntSupplier.class);
            return MethodHandles.lookup().findStatic(Opcodes.class, "handled", type);
        } catch (ReflectiveOperationException impossible) {
            throw new AssertionError(impossible);
        }
    }
}
