/*
 * incident: Each call of the tax office makes a key agreement of its own instead of using the session again, which takes all the CPU.
 * names: cpu-hot-line|cpu-hot-method Handshakes
 * load: cpu
 * jfr: jdk.ExecutionSample Handshakes
 */
import incidents.Incident;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import javax.crypto.KeyAgreement;

public final class Handshakes {
    static final class Session {
        private final KeyPair mine;

        Session() throws GeneralSecurityException {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("X25519");
            mine = generator.generateKeyPair();
        }

        byte[] agree(KeyPair other) throws GeneralSecurityException {
            KeyAgreement agreement = KeyAgreement.getInstance("X25519");
            agreement.init(mine.getPrivate());
            agreement.doPhase(other.getPublic(), true);
            return agreement.generateSecret();
        }
    }

    private final KeyPair office;
    private long bytes;

    private Handshakes() throws GeneralSecurityException {
        office = KeyPairGenerator.getInstance("X25519").generateKeyPair();
    }

    private void report() {
        try {
            while (bytes >= 0) {
                bytes += new Session().agree(office).length;
            }
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] args) throws Exception {
        Handshakes tax = new Handshakes();
        new Thread(tax::report, "tax-1").start();
        new Thread(tax::report, "tax-2").start();
        Thread.sleep(2000);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
