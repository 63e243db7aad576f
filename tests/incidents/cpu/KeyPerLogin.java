/*
 * incident: Each login makes a new pair of RSA keys for its token instead of using the service's own.
 * names: cpu-hot-line|cpu-hot-method TokenIssuer.
 * load: cpu
 * jfr: jdk.ExecutionSample TokenIssuer
 */
package com.acme.auth;

import incidents.Incident;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Signature;
import java.util.Base64;

public final class KeyPerLogin {
    static final class TokenIssuer {
        String issue(String user) throws GeneralSecurityException {
            KeyPair pair = freshKeys();
            Signature signature = Signature.getInstance("SHA256withRSA");
            signature.initSign(pair.getPrivate());
            signature.update(user.getBytes());
            return Base64.getEncoder().encodeToString(signature.sign());
        }

        private KeyPair freshKeys() throws GeneralSecurityException {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
            generator.initialize(1024);
            return generator.generateKeyPair();
        }
    }

    public static void main(String[] args) throws Exception {
        TokenIssuer issuer = new TokenIssuer();
        Incident.start("login", () -> {
            try {
                for (int n = 0; ; n++) {
                    issuer.issue("user-" + n);
                }
            } catch (GeneralSecurityException e) {
                throw new IllegalStateException(e);
            }
        });
        Thread.sleep(2500);
        Incident.readyUntilTheEnd();
    }
}
