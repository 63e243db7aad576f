/*
 * incident: Each client gets a proxy class from a new class loader, and all of them stay.
 * names: class-leak Prox
 * load: cpu
 * jfr: jdk.ClassLoaderStatistics URLClassLoader
 */
import incidents.Incident;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

public final class Proxies {
    public interface Cart {
        int add(String article);

        int size();
    }

    private static final class Counted implements InvocationHandler {
        private int size;

        @Override
        public Object invoke(Object proxy, java.lang.reflect.Method method, Object[] args) {
            return method.getName().equals("add") ? ++size : size;
        }
    }

    private final Map<Integer, Cart> carts = new HashMap<>();

    private static Cart wrap(InvocationHandler handler) {
        ClassLoader loader = new URLClassLoader(new URL[0], Proxies.class.getClassLoader());
        return (Cart) Proxy.newProxyInstance(loader, new Class<?>[] {Cart.class}, handler);
    }

    private void connect() {
        Cart cart = wrap(new Counted());
        carts.put(carts.size() + cart.add("shoes") - 1, cart);
    }

    public static void main(String[] args) throws Exception {
        Proxies shop = new Proxies();
        Executors.newScheduledThreadPool(3).scheduleAtFixedRate(shop::connect, 0, 40, TimeUnit.MILLISECONDS);
        Thread.sleep(600);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
