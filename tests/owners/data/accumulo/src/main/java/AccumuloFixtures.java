import java.io.*;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;
import org.apache.accumulo.core.client.*;
import org.apache.accumulo.core.client.security.tokens.PasswordToken;
import org.apache.accumulo.core.data.Mutation;
import org.apache.accumulo.core.data.Value;
import org.apache.accumulo.core.security.Authorizations;
import org.apache.accumulo.core.security.ColumnVisibility;
import org.apache.accumulo.minicluster.*;

/**
 * Starts an Accumulo of this machine alone, fills OSTMap's tables with the tweets of a file as its schema says, and has
 * Accumulo's own shell list them.
 *
 *     java ... AccumuloFixtures FOLDER TWEETS
 */
public class AccumuloFixtures {
    static byte[] b(String s) { return s.getBytes(StandardCharsets.UTF_8); }

    /* MurmurHash2, 32 bits, seed 0. */
    static int murmur2(byte[] d) {
        final int m = 0x5bd1e995;
        int h = d.length, i = 0;
        for (; d.length - i >= 4; i += 4) {
            int k = (d[i] & 255) | (d[i + 1] & 255) << 8 | (d[i + 2] & 255) << 16 | (d[i + 3] & 255) << 24;
            k *= m;
            k ^= k >>> 24;
            k *= m;
            h = h * m ^ k;
        }
        int left = d.length - i;
        if (left >= 3) h ^= (d[i + 2] & 255) << 16;
        if (left >= 2) h ^= (d[i + 1] & 255) << 8;
        if (left >= 1) h = (h ^ (d[i] & 255)) * m;
        h ^= h >>> 13;
        h *= m;
        return h ^ h >>> 15;
    }

    static void put(AccumuloClient c, String table, byte[] row, String family, byte[] qualifier, String visibility,
                    long time, byte[] value) throws Exception {
        try (BatchWriter w = c.createBatchWriter(table)) {
            Mutation m = new Mutation(row);
            m.put(b(family), qualifier, new ColumnVisibility(visibility), time, value);
            w.addMutation(m);
        }
    }

    static void shell(MiniAccumuloCluster a, String out, String command) throws Exception {
        String java = System.getProperty("java.home") + "/bin/java";
        Process p = new ProcessBuilder(java, "-cp", System.getProperty("java.class.path"),
            "--add-opens", "java.base/java.lang=ALL-UNNAMED",
            "org.apache.accumulo.shell.Shell", "-u", "root", "-p", "secret",
            "-zi", a.getInstanceName(), "-zh", a.getZooKeepers(), "-e", command)
            .redirectError(new File(out + ".log")).redirectOutput(new File(out)).start();
        p.waitFor();
    }

    public static void main(String[] args) throws Exception {
        String out = args[0];
        Path dir = Files.createTempDirectory("mini");
        MiniAccumuloCluster a = new MiniAccumuloCluster(new MiniAccumuloConfig(dir.toFile(), "secret"));
        a.start();
        try (AccumuloClient c = Accumulo.newClient().to(a.getInstanceName(), a.getZooKeepers())
                 .as("root", new PasswordToken("secret")).build()) {
            for (String t : new String[] {"RawTwitterData", "TermIndex", "users"}) c.tableOperations().create(t);
            c.securityOperations().changeUserAuthorizations("root", new Authorizations("staff"));
            java.time.format.DateTimeFormatter created = java.time.format.DateTimeFormatter.ofPattern(
                "EEE MMM dd HH:mm:ss Z yyyy", Locale.ENGLISH);
            for (String line : Files.readAllLines(Paths.get(args[1]))) {
                String at = line.replaceFirst("^.*?\"created_at\":\\s*\"([^\"]*)\".*$", "$1");
                byte[] json = b(line);
                byte[] row = ByteBuffer.allocate(12)
                                 .putLong(java.time.ZonedDateTime.parse(at, created).toEpochSecond())
                                 .putInt(murmur2(json)).array();
                put(c, "RawTwitterData", row, "t", new byte[0], "", 1462000000000L, json);
                put(c, "TermIndex", b("peter tosh"), "user", row, "", 1462000000000L, new byte[0]);
                put(c, "TermIndex", b("#haselnuss"), "text", row, "", 1462000000000L, b("2"));
            }
            put(c, "users", b("u1"), "info", b("name"), "", 1000, b("Ann"));
            put(c, "users", b("u1"), "info", b("age"), "staff", 2000, ByteBuffer.allocate(8).putLong(34).array());
            put(c, "users", b("u1"), "friend", b("u2"), "", 1000, b("close"));
            put(c, "users", b("u2 with a space"), "info", b("name"), "", 1500,
                b("Bj\u00f6rn [x] \"y\\z\"\tinfo:name\nsecond line "));
            put(c, "users", b("u2 with a space"), "friend", b("a b:c"), "", 1500, new byte[0]);
        }
        shell(a, out + "/RawTwitterData.scan", "scan -np -t RawTwitterData");
        shell(a, out + "/TermIndex.scan", "scan -np -t TermIndex");
        shell(a, out + "/users.scan", "scan -np -t users");
        shell(a, out + "/users-times.scan", "scan -np -st -t users");
        a.stop();
        System.exit(0);
    }
}
