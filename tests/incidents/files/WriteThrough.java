/*
 * incident: The account file is open in mode "rwd", so each balance that is written waits for the disk.
 * names: slow-disk AccountFile.store
 * disk: slow
 * jfr: jdk.FileWrite AccountFile.store
 */
package files;

import incidents.Incident;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

public final class WriteThrough {
    static final class AccountFile {
        private static final int RECORD = 24;

        private final RandomAccessFile file;
        private final ByteBuffer record = ByteBuffer.allocate(RECORD);

        AccountFile(Path path) throws IOException {
            file = new RandomAccessFile(path.toFile(), "rwd");
            file.setLength(1000L * RECORD);
        }

        void book(int account, long cents) throws IOException {
            long before = balance(account);
            store(account, before + cents);
        }

        private long balance(int account) throws IOException {
            file.seek((long) account * RECORD);
            return file.readLong();
        }

        private void store(int account, long cents) throws IOException {
            record.clear();
            record.putLong(cents).putLong(System.currentTimeMillis()).putLong(account);
            file.seek((long) account * RECORD);
            file.write(record.array());
        }
    }

    private static void runBranch(AccountFile accounts, long seed) {
        Random random = new Random(seed);
        try {
            while (true) {
                accounts.book(random.nextInt(1000), random.nextInt(2000) - 1000);
                Thread.sleep(4);
            }
        } catch (IOException | InterruptedException e) {
            System.err.println("branch " + seed + ": " + e);
        }
    }

    public static void main(String[] args) throws Exception {
        List<Thread> branches = new ArrayList<>();
        for (int i = 1; i <= 4; i++) {
            AccountFile accounts = new AccountFile(Incident.temporaryFile("branch" + i, ".accounts"));
            long seed = i;
            branches.add(new Thread(() -> runBranch(accounts, seed), "branch-" + i));
        }
        branches.forEach(Thread::start);
        Thread.sleep(400);
        Incident.ready();
        for (Thread branch : branches) {
            branch.join();
        }
    }
}
