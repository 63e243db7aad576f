/*
 * incident: A mapper looks up getters and fields by reflection for each object that it copies, and keeps none of what it found.
 * names: cpu-hot-line|cpu-hot-method|string-copies BeanMapper
 * load: cpu
 * jfr: jdk.ExecutionSample Mapper
 */
package cpu;

import incidents.Incident;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.concurrent.atomic.LongAdder;

public final class BeanMapper {
    public static final class Customer {
        private String name = "Ann";
        private int age = 40;
        private boolean active = true;

        public String getName() {
            return name;
        }

        public int getAge() {
            return age;
        }

        public boolean isActive() {
            return active;
        }
    }

    /** What goes over the wire. */
    public static final class CustomerView {
        String name;
        int age;
        boolean active;
    }

    static final class Mapper {
        <T> T map(Object from, T to) throws ReflectiveOperationException {
            for (Field field : to.getClass().getDeclaredFields()) {
                copyProperty(from, to, field);
            }
            return to;
        }

        private void copyProperty(Object from, Object to, Field field) throws ReflectiveOperationException {
            String suffix = Character.toUpperCase(field.getName().charAt(0)) + field.getName().substring(1);
            for (Method method : from.getClass().getMethods()) {
                if (method.getName().equals("get" + suffix) || method.getName().equals("is" + suffix)) {
                    field.set(to, method.invoke(from));
                }
            }
        }
    }

    private static int answer(Mapper mapper, Customer customer) {
        try {
            CustomerView view = mapper.map(customer, new CustomerView());
            return view.age + view.name.length() + (view.active ? 1 : 0);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] args) throws Exception {
        Mapper mapper = new Mapper();
        Customer customer = new Customer();
        LongAdder total = new LongAdder();
        Thread api = new Thread(() -> {
            while (total.sum() >= 0) {
                total.add(answer(mapper, customer));
            }
        }, "api");
        api.setDaemon(true);
        api.start();
        Thread.sleep(1500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
