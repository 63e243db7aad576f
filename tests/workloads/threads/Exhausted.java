import java.util.Scanner;

/** Each work asks for an array that the heap has no room for, and catches the error. */
public class Exhausted {
    static Object last;

    static boolean fits() {
        try {
            last = new long[1 << 27];
            return true;
        } catch (OutOfMemoryError error) {
            return false;
        }
    }

    public static void main(String[] args) {
        int thrown = 0;
        System.out.println("READY");
        Scanner in = new Scanner(System.in);
        while (in.hasNextLine()) {
            in.nextLine();
            thrown += fits() ? 0 : 1;
            System.out.println("DONE thrown=" + thrown);
        }
    }
}
