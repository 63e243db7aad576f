import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.TreeMap;

/** Virtual and interface calls with many receivers, and calls back from the JDK's collections. */
final class Dispatched {
    private interface Animal {
        void speak(Worker worker) throws Exception;
    }

    private static final class Cat implements Animal {
        @Override public void speak(Worker worker) throws Exception {
            Probe.hit(worker);
        }
    }

    private static final class Dog implements Animal {
        @Override public void speak(Worker worker) throws Exception {
            new Cat().speak(worker);
        }
    }

    private static final class Cow implements Animal {
        @Override public synchronized void speak(Worker worker) throws Exception {
            Probe.hit(worker);
        }
    }

    private static class Bird implements Animal {
        @Override public void speak(Worker worker) throws Exception {
            sing(worker);
        }

        void sing(Worker worker) throws Exception {
            Probe.hit(worker);
        }
    }

    private static final class Wren extends Bird {
        @Override void sing(Worker worker) throws Exception {
            super.sing(worker);
        }
    }

    /** A key whose comparison calls back. */
    private static final class Key implements Comparable<Key> {
        private final int value;
        private final Worker worker;

        Key(int value, Worker worker) {
            this.value = value;
            this.worker = worker;
        }

        @Override public int compareTo(Key other) {
            try {
                Probe.hit(worker);
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
            return Integer.compare(value, other.value);
        }
    }

    private static final Animal[] ANIMALS = {new Cat(), new Dog(), new Cow(), new Bird(), new Wren()};

    private Dispatched() {}

    static void make(Worker worker, int count) throws Exception {
        for (int i = 0; i < count; i++) {
            for (int warm = 0; warm < 50; warm++) {
                ANIMALS[warm % ANIMALS.length].speak(worker);
            }
            worker.armed = true;
            if (worker.made % 4 == 0) {
                collections(worker, i);
            } else {
                ANIMALS[worker.made % ANIMALS.length].speak(worker);
            }
        }
    }

    private static void collections(Worker worker, int i) {
        Key key = new Key(i, worker);
        if (i % 2 == 0) {
            TreeMap<Key, Integer> map = new TreeMap<>();
            map.put(key, i);
            map.put(new Key(-i, worker), i);
        } else {
            List<Key> list = new ArrayList<>(List.of(new Key(3, worker), key, new Key(1, worker)));
            Collections.sort(new AbstractList<Key>() {
                @Override public Key get(int index) {
                    return list.get(index);
                }

                @Override public Key set(int index, Key value) {
                    return list.set(index, value);
                }

                @Override public int size() {
                    return list.size();
                }
            });
        }
    }
}
