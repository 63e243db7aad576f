package java.lang;

import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import jdk.internal.misc.Unsafe;

/**
 * What is known of an object; it does not keep it alive. No queue gets it when the object has died: each would take the queue's lock
 * twice. That a collector was at work is noticed by a reference of our own, and then all that are young are looked at.
 */
final class JtraceKnown extends WeakReference<Object> {
    private static final Unsafe U = Unsafe.getUnsafe();
    /** Whether references can be asked without keeping their objects alive (since 16). */
    private static final boolean CAN_ASK = JtraceJdk.canAsk();
    private static final long REFERENT = JtraceJdk.offset(Reference.class, "referent");
    private static final boolean IS_NARROW = U.arrayIndexScale(Object[].class) == 4;

    /** Where an object was. */
    static final JtraceKnown GONE = new JtraceKnown(null, 0, 0, 0);

    final int hash;
    final int number;
    final int type;
    /** The state, and the last symbols: one word, so that a step is one exchange. */
    long word;

    JtraceKnown(Object object, int hash, int number, int type) {
        super(object);
        this.hash = hash;
        this.number = number;
        this.type = type;
    }

    /** Whether a reference's object has died; that does not keep it alive, as asking for it would while objects are marked. */
    static boolean isDead(WeakReference<?> reference) {
        if (CAN_ASK) return reference.refersTo(null);
        return IS_NARROW ? U.getInt(reference, REFERENT) == 0 : U.getLong(reference, REFERENT) == 0;
    }
}
