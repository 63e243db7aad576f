/** Runs the `main` of a woven class and prints what the stand-in counted. */
public final class RunWoven {
    public static void main(String[] args) throws Exception {
        var main = Class.forName(args[0]).getMethod("main", String[].class);
        java.lang.JtraceMarks.on();
        main.invoke(null, (Object) new String[0]);
        System.out.print(java.lang.JtraceMarks.report());
    }
}
