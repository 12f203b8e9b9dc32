"""SQL over topics from Python: a client of the SQL server, ours or ksqlDB's.

    from barnabas.sql import Client

    with Client("http://127.0.0.1:8088") as client:
        client.execute("CREATE STREAM s (k STRING KEY, v INTEGER) WITH (KAFKA_TOPIC='s', VALUE_FORMAT='JSON', PARTITIONS=1);")
        client.insert("s", [{"k": "a", "v": 1}])
        with client.stream("SELECT * FROM s EMIT CHANGES;") as rows:
            for row in rows:
                print(row.k, row.v)

AsyncClient is the same for asyncio.
"""

from streams_sql.clients.async_insert_stream import AsyncInsertStream
from streams_sql.clients.asynchronous import AsyncClient, AsyncRows
from streams_sql.clients.blocking import Client, Lines, Rows
from streams_sql.clients.failures import Refused, RowsRefused, ServerUnreachable
from streams_sql.clients.insert_stream import InsertStream
from streams_sql.clients.protocol import DEFAULT_URL

__all__ = [
    "DEFAULT_URL",
    "AsyncClient",
    "AsyncInsertStream",
    "AsyncRows",
    "Client",
    "InsertStream",
    "Lines",
    "Refused",
    "Rows",
    "RowsRefused",
    "ServerUnreachable",
]
