import java.lang.ref.SoftReference;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Scanner;

/**
 * Objects whose number and sizes follow from the arguments: a list of `links` links, a holder with `entries` entries of a known payload, and
 * one object that only a soft reference leads to.
 */
public class Planted {
    /** A link of a list that is as long as the heap allows. */
    static class Link {
        Link next;
        long number;
    }

    static class Entry {
        final byte[] payload;

        Entry(int bytes) {
            payload = new byte[bytes];
        }
    }

    /** Everything in it is held by it alone. */
    static class Holder {
        final Entry[] entries;
        Object shared;

        Holder(int count, int bytes) {
            entries = new Entry[count];
            for (int i = 0; i < count; i++) {
                entries[i] = new Entry(bytes);
            }
        }
    }

    static class Registry {
        final Holder holder;
        final Object shared;

        Registry(Holder holder, Object shared) {
            this.holder = holder;
            this.shared = shared;
        }
    }

    static class Seldom {}

    static class Faint {}

    static class Shared {
        final byte[] bytes = new byte[1000];
    }

    static Link first;
    static Registry registry;
    static WeakReference<Seldom> seldom;
    /** Nothing else leads to its referent, which collectors leave alone while there is memory. */
    static SoftReference<Faint> faint;
    /** What is kept only so that the weak reference keeps its referent: a local variable of a thread. */
    static final ArrayList<Object> MORE = new ArrayList<>();

    public static void main(String[] arguments) throws Exception {
        int links = Integer.parseInt(arguments[0]);
        int entries = Integer.parseInt(arguments[1]);
        int bytes = Integer.parseInt(arguments[2]);
        plant(links, entries, bytes);
        Thread thread = new Thread(() -> keep(new Seldom()), "keeper");
        thread.setDaemon(true);
        thread.start();
        // From then on all that is planted is there.
        while (thread.getState() != Thread.State.WAITING) {
            Thread.sleep(1);
        }
        System.out.println("READY");
        Scanner in = new Scanner(System.in);
        while (in.hasNextLine()) {
            in.nextLine();
            for (int i = 0; i < 1000; i++) {
                MORE.add(new Entry(bytes));
            }
            System.out.println("DONE");
        }
    }

    /** A method of its own, so that no variable of `main` holds anything. */
    static void plant(int links, int entries, int bytes) {
        for (int i = 0; i < links; i++) {
            Link link = new Link();
            link.next = first;
            link.number = i;
            first = link;
        }
        Shared shared = new Shared();
        Holder holder = new Holder(entries, bytes);
        holder.shared = shared;
        registry = new Registry(holder, shared);
        faint = new SoftReference<>(new Faint());
    }

    static void keep(Seldom local) {
        seldom = new WeakReference<>(local);
        synchronized (local) {
            while (true) {
                try {
                    local.wait();
                } catch (InterruptedException e) {
                    return;
                }
            }
        }
    }
}
