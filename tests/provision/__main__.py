"""Make available what the tests need beyond Python packages: `python -m tests.provision`. Quick when all is there."""

from deploy import spark
from tests.provision import databases, jars, java, kafka_classes, kafkajs, packages

packages.main()
java.main()
jars.main()
spark.main()
kafka_classes.main()
kafkajs.main()
databases.main()
