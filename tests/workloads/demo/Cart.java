package com.shop;

import java.util.HashMap;
import java.util.Map;

/** A cart that everybody shares, with one lock around work that takes milliseconds. This is the planted contention. */
final class Cart {
    private final Map<String, Integer> items = new HashMap<>();

    /** Adds an item and, still holding the lock, waits for what stands for a remote stock check. */
    synchronized void add(String item) throws InterruptedException {
        items.merge(item, 1, Integer::sum);
        Thread.sleep(4);
    }
}
