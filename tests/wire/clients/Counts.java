import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Scanner;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.LongDeserializer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;

/**
 * Kafka Streams counts the words of the topic "words" into "counts", through a repartition topic and a state store.
 *
 * Prints "processed" at every thousandth word. At the end of its input it is stopped; then come the number of words
 * that were processed, and the last count of every word.
 */
public class Counts {
    // About 0.15 ms with the timer's slack, so that a restart finds work under way.
    static final long WORK_NS = 100_000;

    public static void main(String[] arguments) throws Exception {
        var settings = new Properties();
        settings.putAll(Map.of(
                "bootstrap.servers", arguments[0], "application.id", arguments[1], "processing.guarantee", arguments[1],
                "state.dir", arguments[2], "num.stream.threads", "2", "commit.interval.ms", "100",
                "statestore.cache.max.bytes", "0", "default.key.serde", Serdes.StringSerde.class.getName(),
                "default.value.serde", Serdes.StringSerde.class.getName(), "replication.factor", "1"));
        settings.put("auto.offset.reset", "earliest");
        settings.put("metadata.recovery.strategy", "none");
        settings.put("reconnect.backoff.max.ms", "200");
        var processed = new AtomicInteger();
        var builder = new StreamsBuilder();
        builder.<String, String>stream("words")
                .peek((key, word) -> work(processed))
                .groupBy((key, word) -> word, Grouped.as("by-word"))
                .count()
                .toStream()
                .to("counts", Produced.with(Serdes.String(), Serdes.Long()));
        var failures = new AtomicInteger();
        try (var streams = new KafkaStreams(builder.build(), settings)) {
            streams.setUncaughtExceptionHandler(error -> {
                error.printStackTrace();
                failures.incrementAndGet();
                return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
            });
            streams.start();
            new Scanner(System.in).nextLine();
            streams.close(Duration.ofSeconds(60));
        }
        System.out.println("failures " + failures);
        System.out.println("total " + processed);
        System.out.println("counts " + counts(arguments[0]));
    }

    static void work(AtomicInteger processed) {
        LockSupport.parkNanos(WORK_NS);
        if (processed.incrementAndGet() % 1000 == 0) {
            System.out.println("processed");
        }
    }

    /** The last count of every word, of committed records. */
    static String counts(String bootstrap) {
        Map<String, Object> settings = Map.of("bootstrap.servers", bootstrap, "isolation.level", "read_committed");
        Map<String, Long> found = new HashMap<>();
        try (var consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new LongDeserializer())) {
            var partitions = consumer.partitionsFor("counts").stream()
                    .map(info -> new TopicPartition("counts", info.partition())).toList();
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            var ends = consumer.endOffsets(partitions);
            while (partitions.stream().anyMatch(place -> consumer.position(place) < ends.get(place))) {
                for (ConsumerRecord<String, Long> record : consumer.poll(Duration.ofMillis(100))) {
                    found.merge(record.key(), record.value(), Math::max);
                }
            }
        }
        List<String> told = found.entrySet().stream().map(entry -> entry.getKey() + "=" + entry.getValue()).toList();
        return String.join(" ", told);
    }
}
