import java.util.Scanner;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;

/** A queue in a static field of a class whose methods one thread is in, beside a thread that is in none of them. */
public class StaticQueues {
    public static void main(String[] args) {
        Post.open();
        System.out.println("READY");
        Scanner in = new Scanner(System.in);
        while (in.hasNextLine()) {
            in.nextLine();
            System.out.println("DONE");
        }
    }
}

class Post {
    static final LinkedBlockingQueue<Integer> LETTERS = new LinkedBlockingQueue<>();
    static final CountDownLatch NEVER = new CountDownLatch(1);

    static void open() {
        for (int i = 0; i < 7; i++) {
            LETTERS.add(i);
        }
        Thread clerk = new Thread(Post::busy, "clerk");
        clerk.setDaemon(true);
        clerk.start();
    }

    static void busy() {
        try {
            NEVER.await();
        } catch (InterruptedException interrupted) {
            throw new AssertionError(interrupted);
        }
    }
}
