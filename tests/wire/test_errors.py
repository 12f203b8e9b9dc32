"""Error codes, against kio's table."""

from kio.schema.errors import ErrorCode as KioErrorCode

from barnabas.wire.errors import ErrorCode, KafkaError


def test_codes_names_and_retriable_flags_equal_kios() -> None:
    ours = {code.value: (code.name, code.retriable) for code in ErrorCode}
    theirs = {int(code.value): (code.name.upper(), code.retriable) for code in KioErrorCode}
    assert ours == theirs


def test_codes_are_without_gaps() -> None:
    assert sorted(ErrorCode) == list(range(-1, 134))


def test_every_message_is_one_sentence_of_its_own() -> None:
    messages = [code.message for code in ErrorCode]
    assert all(message.endswith(".") and "\n" not in message for message in messages)
    assert len(set(messages)) == len(messages)


def test_a_code_of_the_future_is_an_unknown_error() -> None:
    assert ErrorCode(999) is ErrorCode.UNKNOWN_SERVER_ERROR


def test_an_error_carries_code_and_message() -> None:
    own = KafkaError(ErrorCode.INVALID_CONFIG, "retention.ms is -7")
    assert (own.code, own.message) == (ErrorCode.INVALID_CONFIG, "retention.ms is -7")
    assert str(own) == "INVALID_CONFIG: retention.ms is -7"
    assert KafkaError(ErrorCode.NOT_CONTROLLER).message == ErrorCode.NOT_CONTROLLER.message
