/*
 * incident: Each row of a result is turned into an object by looking its fields up by name with reflection.
 * names: cpu-hot-line|cpu-hot-method MappedFields
 * load: cpu
 * jfr: jdk.ExecutionSample MappedFields
 */
import incidents.Incident;
import java.lang.reflect.Field;
import java.util.LinkedHashMap;
import java.util.Map;

public final class MappedFields {
    static final class Customer {
        private String name;
        private String street;
        private String city;
        private String country;
        private int age;
    }

    private long rows;

    private static <T> T map(Class<T> type, Map<String, Object> row) throws ReflectiveOperationException {
        T result = type.getDeclaredConstructor().newInstance();
        for (Map.Entry<String, Object> column : row.entrySet()) {
            for (Field field : type.getDeclaredFields()) {
                if (field.getName().equalsIgnoreCase(column.getKey())) {
                    field.setAccessible(true);
                    field.set(result, column.getValue());
                }
            }
        }
        return result;
    }

    private void export() {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("NAME", "Ada");
        row.put("STREET", "12 St James's Square");
        row.put("CITY", "London");
        row.put("COUNTRY", "UK");
        row.put("AGE", 36);
        try {
            while (rows >= 0) {
                rows += map(Customer.class, row).age > 0 ? 1 : 2;
            }
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] args) throws Exception {
        new Thread(new MappedFields()::export, "export").start();
        Thread.sleep(2000);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
