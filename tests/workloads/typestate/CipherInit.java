import java.security.GeneralSecurityException;
import java.security.InvalidKeyException;
import javax.crypto.Cipher;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Ciphers and Macs that get a key before they work, and some that get none, or one that is refused. */
public final class CipherInit {
    private static final byte[] TEXT = new byte[32];
    private static long sum;

    private CipherInit() {}

    public static void main(String[] args) throws Exception {
        Protocol.serve(args, "CipherInit", CipherInit::good, CipherInit::bad);
    }

    private static void good(Protocol protocol) throws GeneralSecurityException {
        SecretKeySpec key = new SecretKeySpec(new byte[16], "AES");
        for (int i = 0; i < Protocol.OBJECTS; i++) {
            Cipher cipher = Cipher.getInstance("AES/ECB/NoPadding");
            cipher.init(Cipher.ENCRYPT_MODE, key);
            sum += cipher.update(TEXT).length + cipher.doFinal(TEXT).length;
            cipher.init(Cipher.DECRYPT_MODE, key);
            sum += cipher.doFinal(TEXT).length;
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(key);
            mac.update(TEXT);
            sum += mac.doFinal().length + mac.doFinal(TEXT).length;
        }
    }

    private static void bad(Protocol protocol) throws GeneralSecurityException {
        for (int i = 0; i < Protocol.OBJECTS; i++) {
            Cipher cipher = Cipher.getInstance("AES/ECB/NoPadding");
            if (i % 2 == 1) {
                try {
                    cipher.init(Cipher.ENCRYPT_MODE, new SecretKeySpec(new byte[3], "AES"));
                    Protocol.unreachable("a key of three bytes");
                } catch (InvalidKeyException expected) {
                    sum++;
                }
            }
            try {
                sum += cipher.doFinal(TEXT).length;
                Protocol.unreachable("encrypted");
            } catch (IllegalStateException expected) {
                sum++;
            }
            Mac mac = Mac.getInstance("HmacSHA256");
            try {
                mac.update(TEXT);
                Protocol.unreachable("updated");
            } catch (IllegalStateException expected) {
                sum++;
            }
            protocol.illegal(2);
        }
    }
}
