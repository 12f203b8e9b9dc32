// Reads a job from stdin, does it with kafkajs, and prints the answer as JSON.
const { CompressionTypes, Kafka, logLevel } = require('kafkajs');

const codecs = { none: CompressionTypes.None, gzip: CompressionTypes.GZIP };
const buffer = (text) => (text === null ? null : Buffer.from(text, 'base64'));

async function produce(kafka, job) {
  const producer = kafka.producer({ idempotent: job.idempotent, maxInFlightRequests: 1 });
  await producer.connect();
  const messages = job.records.map((record) => ({
    key: buffer(record.key),
    value: buffer(record.value),
    headers: Object.fromEntries(record.headers.map(([name, value]) => [name, buffer(value)])),
    timestamp: String(record.timestamp),
    partition: job.partition,
  }));
  const sent = await producer.send({ topic: job.topic, messages, acks: -1, compression: codecs[job.codec] });
  await producer.disconnect();
  return sent;
}

async function administer(kafka, job) {
  const admin = kafka.admin();
  await admin.connect();
  const configEntries = [{ name: 'retention.ms', value: '3600000' }];
  const created = await admin.createTopics({
    topics: [{ topic: job.topic, numPartitions: 3, configEntries }],
    waitForLeaders: true,
  });
  await admin.createPartitions({ topicPartitions: [{ topic: job.topic, count: 5 }] });
  const metadata = await admin.fetchTopicMetadata({ topics: [job.topic] });
  const configs = await admin.describeConfigs({
    resources: [{ type: 2, name: job.topic, configNames: ['retention.ms'] }],
  });
  const offsets = await admin.fetchTopicOffsets(job.topic);
  const cluster = await admin.describeCluster();
  await admin.deleteTopics({ topics: [job.topic] });
  await admin.disconnect();
  return {
    created,
    partitions: metadata.topics[0].partitions.length,
    retention: configs.resources[0].configEntries[0].configValue,
    offsets,
    brokers: cluster.brokers.length,
  };
}

async function main() {
  const chunks = [];
  for await (const chunk of process.stdin) chunks.push(chunk);
  const job = JSON.parse(Buffer.concat(chunks));
  const kafka = new Kafka({ clientId: 'tests', brokers: [job.address], logLevel: logLevel.ERROR });
  const answer = await { produce, administer }[job.do](kafka, job);
  console.log(JSON.stringify(answer));
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
