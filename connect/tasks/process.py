"""What runs in the process of a task, or of a question to a connector. The worker's side is `host`."""

from __future__ import annotations

import gc
import logging
import os
import signal
import socket
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Final, NoReturn

import barnabas.kernel.logging
from connect.api.plugin import PluginKind
from connect.config.secrets import hidden, secret_values
from connect.errors import ConnectError, InvalidOffsets
from connect.tasks.control import ORPHAN_STATUS, Control, TaskStop
from connect.tasks.delivery import shut_out_predecessors
from connect.tasks.frames import Channel
from connect.tasks.messages import (
    Check,
    CheckResult,
    ConnectorRequest,
    FenceResult,
    FenceTasks,
    FindShards,
    OffsetsCheckResult,
    ShardList,
    TaskEnd,
    TaskFailure,
)
from connect.tasks.record_producer import RecordProducer, producer_settings
from connect.tasks.settings import tasks_max
from connect.tasks.spec import ConnectorSpec, TaskSpec, WorkerConfig
from connect.tasks.task_factory import TaskFactory, connector_plugin, made, plugins_of, transactional_id
from connect.tasks.trace import trace_of

logger = logging.getLogger(__name__)

GARBAGE_THRESHOLDS: Final = (50_000, 20, 50)
"""Batches make many objects that live shortly; Python's own thresholds look through them all the time."""


def run_task(own: socket.socket, spec: TaskSpec) -> NoReturn:
    channel = Channel(own)
    _prepare(spec.worker, {"connector": spec.id.connector, "task": spec.id.number})
    control = Control(channel, starts_paused=spec.starts_paused)
    signal.signal(signal.SIGTERM, control.terminate)

    def work() -> TaskEnd:
        # It may come before the task has begun, or break off its end.
        with suppress(TaskStop):
            TaskFactory(spec, plugins_of(spec.worker), control, channel.send).make().run()
        return TaskEnd()

    _say_last(channel, work, spec.config, spec.worker)


def run_call(own: socket.socket, asked: tuple[ConnectorSpec, ConnectorRequest]) -> NoReturn:
    connector, question = asked
    channel = Channel(own)
    _prepare(connector.worker, {"connector": connector.name})
    threading.Thread(target=_end_with_worker, args=(channel,), daemon=True).start()
    _say_last(channel, lambda: _answer(connector, question), connector.config, connector.worker)


def _prepare(worker: WorkerConfig, origin: Mapping[str, object]) -> None:
    # Ctrl-C reaches every process of the terminal; the worker tells the task what to do.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    barnabas.kernel.logging.configure(replace(worker.log, origin=origin))
    gc.set_threshold(*GARBAGE_THRESHOLDS)
    # What the processes of all tasks share stays shared.
    gc.freeze()


def _say_last(
    channel: Channel, work: Callable[[], object], config: Mapping[str, str], worker: WorkerConfig
) -> NoReturn:
    """Do the work, say how it ended, and end: threads that a connector left behind hold nothing up."""
    try:
        message = work()
    except BaseException as error:  # noqa: BLE001 - whatever it was, the worker is told
        message = TaskFailure(trace_of(error, _secrets(config, worker)))
        logger.error("the task has failed: %s", message.trace)
    channel.send(message)
    logging.shutdown()
    os._exit(0)


def _secrets(config: Mapping[str, str], worker: WorkerConfig) -> list[str]:
    """Values that no trace may show."""
    try:
        return secret_values(plugins_of(worker), config)
    except ConnectError:
        return []


def _end_with_worker(channel: Channel) -> None:
    try:
        channel.receive()
    except (EOFError, ConnectionError):
        os._exit(ORPHAN_STATUS)


def _answer(connector: ConnectorSpec, question: ConnectorRequest) -> object:
    if isinstance(question, FenceTasks):
        return _fence(connector, question.count)
    plugin = connector_plugin(connector.config, plugins_of(connector.worker))
    answering = made(plugin, connector.config)
    if isinstance(question, Check):
        return CheckResult(tuple(answering.check()))
    if plugin.kind is not PluginKind.SOURCE:
        raise ConnectError(f"{plugin.class_name} is no source: it has neither shards nor offsets of its own")
    answering.tasks_max = tasks_max(connector.config)
    if isinstance(question, FindShards):
        return ShardList(tuple(answering.shards()), answering.rescan_s, answering.is_exactly_once)
    try:
        answering.check_offsets(question.offsets)
    except InvalidOffsets as refusal:
        return OffsetsCheckResult(hidden(str(refusal), _secrets(connector.config, connector.worker)))
    return OffsetsCheckResult()


def _fence(connector: ConnectorSpec, count: int) -> FenceResult:
    worker, config = connector.worker, connector.config
    for number in range(count):
        name = transactional_id(worker.group_id, connector.name, number)
        producer = RecordProducer(producer_settings(worker, config, f"connector-fence-{name}", name), lambda: None)
        shut_out_predecessors(producer)
    return FenceResult()
