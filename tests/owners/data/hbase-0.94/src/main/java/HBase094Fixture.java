import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.io.ImmutableBytesWritable;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.io.SequenceFile;

/** The first rows of HBaseFixtures' users as HBase 0.94 exported them: its Result writes itself. */
public class HBase094Fixture {
    static KeyValue kv(String row, String family, String qualifier, long time, byte[] value) {
        return new KeyValue(Bytes.toBytes(row), Bytes.toBytes(family), Bytes.toBytes(qualifier), time, value);
    }

    public static void main(String[] args) throws Exception {
        Configuration c = new Configuration();
        c.set("fs.defaultFS", "file:///");
        try (SequenceFile.Writer w = SequenceFile.createWriter(c,
                 SequenceFile.Writer.file(new Path("file://" + args[0])),
                 SequenceFile.Writer.keyClass(ImmutableBytesWritable.class),
                 SequenceFile.Writer.valueClass(Result.class),
                 SequenceFile.Writer.compression(SequenceFile.CompressionType.NONE))) {
            w.append(new ImmutableBytesWritable(Bytes.toBytes("u1")), new Result(new KeyValue[] {
                kv("u1", "friend", "u2", 2000, Bytes.toBytes("close")), kv("u1", "friend", "u3", 3000, new byte[0]),
                kv("u1", "info", "age", 2000, Bytes.toBytes(34L)), kv("u1", "info", "age", 1000, Bytes.toBytes(33L)),
                kv("u1", "info", "name", 1000, Bytes.toBytes("Ann"))}));
            w.append(new ImmutableBytesWritable(Bytes.toBytes("u2")), new Result(new KeyValue[] {
                kv("u2", "info", "age", 1500, Bytes.toBytes(-1L))}));
        }
    }
}
