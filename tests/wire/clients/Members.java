import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;

/**
 * Three members of one group read a topic of six partitions and commit after every poll, until "total" values were read.
 *
 * Prints "settled" when every member has two partitions, "read" at every thousandth record, and at the end what every
 * member saw of rebalances, its identity at the beginning and at the end, and all that was read.
 */
public class Members {
    static final int MEMBERS = 3;
    static final CyclicBarrier finished = new CyclicBarrier(MEMBERS);
    static final AtomicInteger settled = new AtomicInteger();
    static final AtomicInteger read = new AtomicInteger();
    static final ConcurrentLinkedQueue<String> values = new ConcurrentLinkedQueue<>();
    static final ConcurrentLinkedQueue<String> report = new ConcurrentLinkedQueue<>();

    public static void main(String[] arguments) throws Exception {
        // The default strategy, "rebootstrap", tries again without a pause while no broker answers.
        Map<String, Object> settings = Map.of(
                "bootstrap.servers", arguments[0], "group.id", arguments[2], "group.protocol", arguments[2],
                "auto.offset.reset", "earliest", "enable.auto.commit", "false", "max.poll.records", "50",
                "metadata.recovery.strategy", "none", "reconnect.backoff.max.ms", "200");
        int total = Integer.parseInt(arguments[3]);
        List<Thread> members = new ArrayList<>();
        for (int number = 0; number < MEMBERS; number++) {
            String name = "m" + number;
            members.add(new Thread(() -> {
                try {
                    member(name, settings, arguments[1], total);
                } catch (Exception error) {
                    report.add(name + " " + error);
                    finished.reset();
                }
            }));
        }
        members.forEach(Thread::start);
        for (Thread member : members) {
            member.join();
        }
        report.stream().sorted().forEach(line -> System.out.println("member " + line));
        System.out.println("values " + String.join(" ", values));
    }

    static void member(String name, Map<String, Object> settings, String topic, int total) throws Exception {
        List<String> events = new ArrayList<>();
        // As the listener was told, which may be a poll later than the assignment itself.
        Set<TopicPartition> held = new HashSet<>();
        try (var consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer())) {
            consumer.subscribe(List.of(topic), noting(events, held));
            while (settled.get() < MEMBERS) {
                boolean had = held.size() == 2;
                take(consumer);
                if (!had && held.size() == 2 && settled.incrementAndGet() == MEMBERS) {
                    System.out.println("settled");
                } else if (had && held.size() != 2) {
                    settled.decrementAndGet();
                }
            }
            String before = identity(consumer);
            events.clear();
            int commits = 0;
            while (read.get() < total) {
                if (take(consumer)) {
                    consumer.commitSync();
                    commits++;
                }
            }
            String kept = before.equals(identity(consumer)) ? "kept" : before + " became " + identity(consumer);
            report.add(name + " " + kept + ", committed " + (commits > 0) + ", events " + events);
            // Whoever leaves makes the others rebalance.
            finished.await();
        }
    }

    /** True if there were records. */
    static boolean take(KafkaConsumer<String, String> consumer) {
        var records = consumer.poll(Duration.ofMillis(50));
        for (ConsumerRecord<String, String> record : records) {
            values.add(record.value());
            if (read.incrementAndGet() % 1000 == 0) {
                System.out.println("read");
            }
        }
        return !records.isEmpty();
    }

    static String identity(KafkaConsumer<?, ?> consumer) {
        var group = consumer.groupMetadata();
        List<String> partitions = new ArrayList<>();
        consumer.assignment().forEach(partition -> partitions.add(partition.toString()));
        partitions.sort(null);
        return group.memberId() + " in " + group.generationId() + " with " + partitions;
    }

    static ConsumerRebalanceListener noting(List<String> events, Set<TopicPartition> held) {
        return new ConsumerRebalanceListener() {
            public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
                events.add("assigned " + partitions);
                held.addAll(partitions);
            }

            public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
                events.add("revoked " + partitions);
                held.removeAll(partitions);
            }

            public void onPartitionsLost(Collection<TopicPartition> partitions) {
                events.add("lost " + partitions);
                held.removeAll(partitions);
            }
        };
    }
}
