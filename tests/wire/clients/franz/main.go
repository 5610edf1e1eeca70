// A topic, a committed and an aborted transaction, and a group. Prints what it saw.
package main

import (
	"context"
	"fmt"
	"os"
	"sort"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	bootstrap, topic := os.Args[1], os.Args[2]
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	producer, err := kgo.NewClient(
		kgo.SeedBrokers(bootstrap), kgo.TransactionalID(topic), kgo.DefaultProduceTopic(topic),
		kgo.AllowAutoTopicCreation(), kgo.ProducerBatchCompression(kgo.ZstdCompression()))
	check(err)
	for _, outcome := range []string{"committed", "aborted", "committed"} {
		check(producer.BeginTransaction())
		for number := 0; number < 5; number++ {
			record := &kgo.Record{Key: []byte("key"), Value: []byte(fmt.Sprint(outcome, number))}
			check(producer.ProduceSync(ctx, record).FirstErr())
		}
		check(producer.EndTransaction(ctx, kgo.TransactionEndTry(outcome == "committed")))
	}
	producer.Close()
	consumer, err := kgo.NewClient(
		kgo.SeedBrokers(bootstrap), kgo.ConsumerGroup(topic+"-group"), kgo.ConsumeTopics(topic),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.DisableAutoCommit(),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	check(err)
	var seen []string
	for len(seen) < 10 {
		fetches := consumer.PollFetches(ctx)
		check(fetches.Err())
		fetches.EachRecord(func(record *kgo.Record) { seen = append(seen, string(record.Value)) })
	}
	check(consumer.CommitUncommittedOffsets(ctx))
	consumer.Close()
	sort.Strings(seen)
	fmt.Println(seen)
}
