"""Make available what the tests need beyond Python packages: `python -m tests.provision`. Quick when all is there."""

from tests.provision import databases, jars, java, kafkajs, packages

packages.main()
java.main()
jars.main()
kafkajs.main()
databases.main()
