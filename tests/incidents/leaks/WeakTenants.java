/*
 * incident: Keys of requests are kept in a weak map whose values refer to their keys, so that nothing ever leaves it.
 * names: heap-growth|heap-nearly-full Tenants.|Profile
 * flags: -Xmx160m
 * jfr: none
 */
package com.acme.tenants;

import incidents.Incident;
import java.util.Collections;
import java.util.Map;
import java.util.WeakHashMap;

public final class WeakTenants {
    static final class Key {
        final int number;

        Key(int number) {
            this.number = number;
        }
    }

    static final class Profile {
        private final Key owner;
        private final long[] quota = new long[250];

        Profile(Key owner) {
            this.owner = owner;
            quota[0] = owner.number;
        }
    }

    static final class Tenants {
        private final Map<Key, Profile> profiles = Collections.synchronizedMap(new WeakHashMap<>());

        long quota(int number) {
            Key key = new Key(number);
            return profiles.computeIfAbsent(key, Profile::new).quota[0];
        }
    }

    public static void main(String[] args) throws Exception {
        Tenants tenants = new Tenants();
        Incident.start("gateway", () -> {
            for (int number = 0; ; number++) {
                tenants.quota(number);
                if (number % 10 == 0) {
                    byte[] garbage = new byte[300_000];
                    Incident.sleep(garbage.length / 100_000);
                }
            }
        });
        Thread.sleep(2000);
        Incident.readyUntilTheEnd();
    }
}
