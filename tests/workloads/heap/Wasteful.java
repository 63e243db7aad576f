import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Scanner;

/**
 * Orders of which most could be saved: texts and numbers that are equal, collections that are never filled, arrays that are hardly used. And a
 * map whose keys all collide.
 */
public class Wasteful {
    static class Order {
        final String country;
        final Integer quantity;
        final byte[] payload = new byte[1000];
        final Map<String, String> attributes = new HashMap<>();
        final List<Object> lines = new ArrayList<>(10);
        final Object[] slots = new Object[100];

        Order(int number, int countries, int quantities) {
            country = "country-" + number % countries;
            quantity = Integer.valueOf(1_000_003 + number % quantities);
            // No two are equal, and 996 zeros follow.
            payload[0] = (byte) (number >> 8);
            payload[1] = (byte) number;
            payload[3] = 1;
            slots[number % slots.length] = this;
        }
    }

    static class Key {
        @Override
        public int hashCode() {
            return 7;
        }
    }

    static Order[] orders;
    static final Map<Key, Order> CROWDED = new HashMap<>();
    static final Map<Integer, Order> SPREAD = new HashMap<>();

    public static void main(String[] arguments) {
        int[] numbers = new int[arguments.length];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = Integer.parseInt(arguments[i]);
        }
        orders = new Order[numbers[0]];
        for (int i = 0; i < orders.length; i++) {
            orders[i] = new Order(i, numbers[1], numbers[2]);
        }
        for (int i = 0; i < 100; i++) {
            CROWDED.put(new Key(), orders[i]);
            SPREAD.put(i, orders[i]);
        }
        System.out.println("READY");
        Scanner in = new Scanner(System.in);
        while (in.hasNextLine()) {
            in.nextLine();
            System.out.println("DONE");
        }
    }
}
