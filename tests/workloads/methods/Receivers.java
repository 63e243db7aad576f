/** Call sites that meet 1, 2 and 5 kinds of receivers: a site has as many callees. */
public final class Receivers {
    private static final int CALLS = 500;
    private static long sink;

    abstract static class Shape {
        abstract long area();
    }

    static final class A extends Shape {
        @Override
        long area() {
            return 1;
        }
    }

    static final class B extends Shape {
        @Override
        long area() {
            return 2;
        }
    }

    static final class C extends Shape {
        @Override
        long area() {
            return 3;
        }
    }

    static final class D extends Shape {
        @Override
        long area() {
            return 4;
        }
    }

    static final class E extends Shape {
        @Override
        long area() {
            return 5;
        }
    }

    public static void main(String[] args) throws Exception {
        Shape[] all = {new A(), new B(), new C(), new D(), new E()};
        Session.serve(session -> {
            for (int i = 0; i < CALLS; i++) {
                sink += one(all[0]) + two(all[i % 2]) + five(all[i % 5]);
            }
            session.expect("callees", "Receivers.one", 1);
            session.expect("callees", "Receivers.two", 2);
            session.expect("callees", "Receivers.five", 5);
            session.expect("edge", "Receivers.one->Receivers$A.area", CALLS);
            session.expect("edge", "Receivers.two->Receivers$A.area", CALLS / 2);
            session.expect("edge", "Receivers.two->Receivers$B.area", CALLS / 2);
            for (String name : new String[] {"A", "B", "C", "D", "E"}) {
                session.expect("edge", "Receivers.five->Receivers$" + name + ".area", CALLS / 5);
            }
            session.expect("calls", "Receivers$A.area", CALLS + CALLS / 2 + CALLS / 5);
        });
    }

    static long one(Shape shape) {
        return shape.area();
    }

    static long two(Shape shape) {
        return shape.area();
    }

    static long five(Shape shape) {
        return shape.area();
    }
}
