import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** A topic, a committed and an aborted transaction with offsets, a group of each protocol. Prints what it saw. */
public class RoundTrip {
    public static void main(String[] arguments) throws Exception {
        String bootstrap = arguments[0];
        String topic = arguments[1];
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrap))) {
            admin.createTopics(List.of(new NewTopic(topic, Optional.of(2), Optional.empty()))).all().get();
        }
        try (var producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", bootstrap, "transactional.id", topic, "compression.type", "zstd"),
                new StringSerializer(), new StringSerializer())) {
            producer.initTransactions();
            for (String outcome : List.of("committed", "aborted", "committed")) {
                producer.beginTransaction();
                for (int number = 0; number < 5; number++) {
                    producer.send(new ProducerRecord<>(topic, "key" + number, outcome + number));
                }
                producer.flush();
                if (outcome.equals("committed")) {
                    var position = Map.of(new TopicPartition(topic, 0), new OffsetAndMetadata(7, "here"));
                    producer.sendOffsetsToTransaction(position, new org.apache.kafka.clients.consumer.ConsumerGroupMetadata(topic + "-moved"));
                    producer.commitTransaction();
                } else {
                    producer.abortTransaction();
                }
            }
        }
        for (String protocol : List.of("classic", "consumer")) {
            System.out.println(protocol + " " + read(bootstrap, topic, protocol));
        }
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrap))) {
            var offsets = admin.listConsumerGroupOffsets(topic + "-moved").partitionsToOffsetAndMetadata().get();
            System.out.println("moved " + offsets.get(new TopicPartition(topic, 0)).offset());
            System.out.println("partitions " + admin.describeTopics(List.of(topic)).allTopicNames().get().get(topic).partitions().size());
        }
    }

    static List<String> read(String bootstrap, String topic, String protocol) {
        List<String> seen = new ArrayList<>();
        Map<String, Object> settings = Map.of(
                "bootstrap.servers", bootstrap, "group.id", topic + "-" + protocol, "group.protocol", protocol,
                "auto.offset.reset", "earliest", "isolation.level", "read_committed", "enable.auto.commit", "false");
        try (var consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer())) {
            consumer.subscribe(List.of(topic));
            long endsAt = System.nanoTime() + Duration.ofSeconds(40).toNanos();
            while (seen.size() < 10 && System.nanoTime() < endsAt) {
                for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(200))) {
                    seen.add(record.value());
                }
            }
            consumer.commitSync();
        }
        seen.sort(null);
        return seen;
    }
}
