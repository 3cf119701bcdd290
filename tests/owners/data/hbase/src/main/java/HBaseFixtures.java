import java.io.File;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileUtil;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.KeepDeletedCells;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.*;
import org.apache.hadoop.hbase.mapreduce.Export;
import org.apache.hadoop.hbase.io.ImmutableBytesWritable;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.io.SequenceFile;
import org.apache.hadoop.util.ToolRunner;

/**
 * Starts an HBase of one process, fills three tables, and has HBase's own Export write them, once for each
 * compression; then its own shell lists them.
 *
 *     java ... HBaseFixtures FOLDER
 */
public class HBaseFixtures {
    static byte[] b(String s) { return s.getBytes(StandardCharsets.UTF_8); }

    static Table make(Admin admin, Connection c, String name, int versions, String... families)
        throws Exception {
        TableDescriptorBuilder t = TableDescriptorBuilder.newBuilder(TableName.valueOf(name));
        for (String f : families)
            t.setColumnFamily(ColumnFamilyDescriptorBuilder.newBuilder(b(f)).setMaxVersions(versions)
                                  .setKeepDeletedCells(KeepDeletedCells.TRUE).build());
        admin.createTable(t.build());
        return c.getTable(TableName.valueOf(name));
    }

    static void put(Table t, byte[] row, long time, Object... cells) throws Exception {
        Put p = new Put(row, time);
        for (int i = 0; i < cells.length; i += 2) {
            String[] column = ((String) cells[i]).split(":", 2);
            p.addColumn(b(column[0]), b(column[1]),
                        cells[i + 1] instanceof byte[] ? (byte[]) cells[i + 1] : b((String) cells[i + 1]));
        }
        t.put(p);
    }

    /* Rows of text; three versions; a value with all that a listing could stumble over. */
    static void fillUsers(Table t) throws Exception {
        put(t, b("u1"), 1000, "info:name", "Ann", "info:age", Bytes.toBytes(33L), "friend:u2", "school");
        put(t, b("u1"), 2000, "info:age", Bytes.toBytes(34L), "friend:u2", "close");
        put(t, b("u1"), 3000, "friend:u3", "");
        put(t, b("u2"), 1500, "info:name", "Bj\u00f6rn, value=\"x\\y\"\tcolumn=info:name\nsecond line ",
            "info:age", Bytes.toBytes(-1L));
        put(t, b("u3 with a space"), 1600, "info:name", "Cy", "friend:a b", "x", "friend:u1", "gone");
        put(t, b("u4"), 1700, "info:name", "Di", "friend:u1", "gone", "friend:u2", "gone");
        t.delete(new Delete(b("u3 with a space")).addColumns(b("friend"), b("u1"), 1800));
        t.delete(new Delete(b("u4")).addFamily(b("friend"), 1900));
        put(t, b("u4"), 2000, "friend:u3", "new");
        for (int i = 10; i < 40; i++)
            put(t, b("u" + i), 5000 + i, "info:name", "user " + i, "info:age", Bytes.toBytes((long) i));
    }

    /* sandcrawler's table, of three files. */
    static void fillPapers(Table t) throws Exception {
        String[] files = {"hello", "abc", ""};
        for (int i = 0; i < files.length; i++) {
            byte[] sha1 = MessageDigest.getInstance("SHA-1").digest(b(files[i]));
            put(t, sha1, 1525000000000L + i,
                "f:c", "{\"c\": 1, \"d\": \"2018-04-29T11:06:4" + i + "Z\", \"f\": \"A-0000" + i
                    + ".warc.gz\", \"o\": 1027" + i + ", \"u\": \"http://example.org/" + i + ".pdf\"}",
                "file:mime", "application/pdf",
                "file:cdx", "{\"c_size\": 450" + i + ", \"dt\": \"2018042911064" + i + "\", \"offset\": 1027" + i
                    + ", \"surt\": \"org,example)/" + i + ".pdf\", \"url\": \"http://example.org/" + i
                    + ".pdf\", \"warc\": \"ITEM-2018/A-0000" + i + ".warc.gz\"}",
                "file:size", Bytes.toBytes((long) files[i].length()));
            if (i == 2) continue;
            put(t, sha1, 1526000000000L, "grobid0:status_code", Bytes.toBytes(i == 0 ? 200L : 500L),
                "grobid0:status", i == 0 ? "{\"status\": \"success\"}" : "{\"status\": \"error\"}");
            if (i == 1) continue;
            put(t, sha1, 1526000000000L, "grobid0:quality", "good", "grobid0:tei_xml",
                "<TEI xmlns=\"http://www.tei-c.org/ns/1.0\"><teiHeader><fileDesc><titleStmt><title>A study of greetings"
                    + "</title></titleStmt></fileDesc></teiHeader><text><body><p>Hello.</p></body></text></TEI>",
                "grobid0:tei_json", "{\"title\": \"A study of greetings\", \"body\": \"Hello.\"}",
                "grobid0:metadata", "{\"title\": \"A study of greetings\"}", "match0:mstatus", "match",
                "match0:doi", "10.1000/hello", "match0:minfo", "{\"record\": \"10.1000/hello\", \"score\": 1000}");
        }
    }

    /* Rows of three parts: the user, the largest int64 less the milliseconds, the event. */
    static void fillActions(Table t) throws Exception {
        for (int i = 0; i < 35; i++)
            put(t, Bytes.add(b("u1"), Bytes.toBytes(Long.MAX_VALUE - (1247443200000L + i)), Bytes.toBytes((long) i)),
                1247443200000L + i, "name:", "event " + i);
        put(t, Bytes.add(b("u10"), Bytes.toBytes(Long.MAX_VALUE - 1L), Bytes.toBytes(7L)), 1, "name:", "of another");
    }

    static void export(Configuration base, FileSystem fs, String out, String table, String name,
                       String... options) throws Exception {
        Configuration c = new Configuration(base);
        c.set("mapreduce.framework.name", "local");
        String[] args = new String[options.length + 3];
        System.arraycopy(options, 0, args, 0, options.length);
        args[options.length] = table;
        args[options.length + 1] = "/export/" + name;
        args[options.length + 2] = "3";
        if (ToolRunner.run(c, new Export(), args) != 0) throw new Exception("export " + name);
        FileUtil.copy(fs, new Path("/export/" + name), new File(out, name), false, base);
    }

    static String codec(String name) {
        return "-Dmapreduce.output.fileoutputformat.compress.codec=org.apache.hadoop.io.compress." + name;
    }

    /* The plain export again, with a sync marker after every 500 bytes in the place of every 100,000. */
    static void withSyncs(String out) throws Exception {
        Configuration c = new Configuration();
        c.set("io.serializations", "org.apache.hadoop.io.serializer.WritableSerialization,"
                                       + "org.apache.hadoop.hbase.mapreduce.ResultSerialization");
        c.set("fs.defaultFS", "file:///");
        new File(out, "users-syncs").mkdir();
        try (SequenceFile.Reader r = new SequenceFile.Reader(c,
                 SequenceFile.Reader.file(new Path("file://" + out + "/users-plain/part-m-00000")));
             SequenceFile.Writer w = SequenceFile.createWriter(c,
                 SequenceFile.Writer.file(new Path("file://" + out + "/users-syncs/part-m-00000")),
                 SequenceFile.Writer.keyClass(ImmutableBytesWritable.class),
                 SequenceFile.Writer.valueClass(Result.class), SequenceFile.Writer.syncInterval(500),
                 SequenceFile.Writer.compression(SequenceFile.CompressionType.NONE))) {
            ImmutableBytesWritable key = new ImmutableBytesWritable();
            while (r.next(key)) w.append(key, r.getCurrentValue((Object) null));
        }
    }

    public static void main(String[] args) throws Exception {
        String out = args[0];
        HBaseTestingUtility u = new HBaseTestingUtility();
        u.getConfiguration().setInt("hbase.regionserver.info.port", -1);
        u.startMiniCluster();
        Configuration conf = u.getConfiguration();
        Connection c = u.getConnection();
        Admin admin = u.getAdmin();
        fillUsers(make(admin, c, "users", 3, "info", "friend"));
        fillPapers(make(admin, c, "wbgrp-journal-extract-0-qa", 1, "f", "file", "grobid0", "match0"));
        fillActions(make(admin, c, "actions", 1, "name"));
        FileSystem fs = u.getTestFileSystem();
        String no = "-Dmapreduce.output.fileoutputformat.compress=false";
        String yes = "-Dmapreduce.output.fileoutputformat.compress=true";
        String record = "-Dmapreduce.output.fileoutputformat.compress.type=RECORD";
        String block = "-Dmapreduce.output.fileoutputformat.compress.type=BLOCK";
        export(conf, fs, out, "users", "users-plain", no);
        export(conf, fs, out, "users", "users-raw", no, "-Dhbase.mapreduce.include.deleted.rows=true");
        export(conf, fs, out, "users", "users-record", yes, record, codec("DefaultCodec"));
        export(conf, fs, out, "users", "users-block", yes, block, codec("DefaultCodec"),
               "-Dio.seqfile.compress.blocksize=400");
        withSyncs(out);
        for (String name : new String[] {"SnappyCodec", "BZip2Codec", "Lz4Codec"})
            export(conf, fs, out, "users", "users-block-" + name, yes, block, codec(name));
        export(conf, fs, out, "wbgrp-journal-extract-0-qa", "papers", yes, block, codec("DefaultCodec"));
        export(conf, fs, out, "actions", "actions", no);
        System.err.println("EXPORTED");
        conf.writeXml(new java.io.FileOutputStream(new File(out, "conf.xml")));
        try {
            shell(out, args[1]);
        } finally {
            System.exit(0);
        }
    }

    static void shell(String out, String ruby) throws Exception {
        org.jruby.embed.ScriptingContainer j = new org.jruby.embed.ScriptingContainer(
            org.jruby.embed.LocalContextScope.SINGLETON);
        j.setEnvironment(System.getenv());
        System.setProperty("fixtures.conf", new File(out, "conf.xml").getPath());
        System.setProperty("fixtures.out", out);
        j.runScriptlet(org.jruby.embed.PathType.ABSOLUTE, ruby);
    }
}
