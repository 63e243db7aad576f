import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Signature;
import java.security.SignatureException;

/** Signatures that are made and checked in order, and some that are not initialised, or for the other purpose. */
public final class SignatureOrder {
    private static final int SIGNATURES = 20;
    private static final byte[] TEXT = new byte[100];
    private static long sum;

    private SignatureOrder() {}

    public static void main(String[] args) throws Exception {
        Protocol.serve(args, "SignatureOrder", SignatureOrder::good, SignatureOrder::bad);
    }

    private static KeyPair keys() throws GeneralSecurityException {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
        generator.initialize(1024);
        return generator.generateKeyPair();
    }

    private static void good(Protocol protocol) throws GeneralSecurityException {
        KeyPair keys = keys();
        for (int i = 0; i < SIGNATURES; i++) {
            Signature signature = Signature.getInstance("SHA256withRSA");
            signature.initSign(keys.getPrivate());
            signature.update(TEXT);
            byte[] first = signature.sign();
            signature.update((byte) 1);
            signature.update(TEXT, 1, 99);
            sum += signature.sign().length;
            signature.initVerify(keys.getPublic());
            signature.update(TEXT);
            if (!signature.verify(first)) {
                Protocol.unreachable("a wrong signature");
            }
        }
    }

    private static void bad(Protocol protocol) throws GeneralSecurityException {
        KeyPair keys = keys();
        for (int i = 0; i < SIGNATURES; i++) {
            Signature early = Signature.getInstance("SHA256withRSA");
            try {
                early.update(TEXT);
                Protocol.unreachable("updated");
            } catch (SignatureException expected) {
                sum++;
            }
            Signature other = Signature.getInstance("SHA256withRSA");
            other.initVerify(keys.getPublic());
            other.update(TEXT);
            try {
                sum += other.sign().length;
                Protocol.unreachable("signed");
            } catch (SignatureException expected) {
                sum++;
            }
            protocol.illegal(2);
        }
    }
}
