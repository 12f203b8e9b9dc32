import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.SubscriptionPattern;
import org.apache.kafka.common.TopicCollection;
import org.apache.kafka.common.Uuid;

/** What a Java client does with topic ids. Arguments: address, prefix of topic names, number of records to read. */
public class TopicIds {
    static final long DEADLINE_NS = 60_000_000_000L;

    public static void main(String[] arguments) throws Exception {
        String address = arguments[0], prefix = arguments[1];
        describe(address, prefix);
        read(address, prefix, Integer.parseInt(arguments[2]));
    }

    /** Prints the name, the partitions and the error of each id: those of the topics, and one that no topic has. */
    static void describe(String address, String prefix) throws Exception {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", address))) {
            Set<Uuid> ids = new HashSet<>();
            for (var listing : admin.listTopics().listings().get())
                if (listing.name().startsWith(prefix)) ids.add(listing.topicId());
            for (TopicDescription topic :
                    admin.describeTopics(TopicCollection.ofTopicIds(ids)).allTopicIds().get().values())
                System.out.println("described " + topic.name() + " " + topic.partitions().size());
            Uuid unknown = Uuid.randomUuid();
            try {
                admin.describeTopics(TopicCollection.ofTopicIds(List.of(unknown))).allTopicIds().get();
            } catch (java.util.concurrent.ExecutionException problem) {
                System.out.println("unknown " + problem.getCause().getClass().getSimpleName());
            }
        }
    }

    /** The broker resolves the pattern, and the consumer learns its topics by their ids alone. */
    static void read(String address, String prefix, int count) {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", address);
        settings.put("group.id", prefix);
        settings.put("group.protocol", "consumer");
        settings.put("auto.offset.reset", "earliest");
        settings.put("key.deserializer", "org.apache.kafka.common.serialization.StringDeserializer");
        settings.put("value.deserializer", "org.apache.kafka.common.serialization.StringDeserializer");
        Set<String> values = new TreeSet<>();
        long deadline = System.nanoTime() + DEADLINE_NS;
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(settings)) {
            consumer.subscribe(new SubscriptionPattern(prefix + ".*"));
            while (values.size() < count && System.nanoTime() < deadline)
                for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(200)))
                    values.add(record.topic() + " " + record.value());
        }
        for (String value : values) System.out.println("read " + value);
    }
}
