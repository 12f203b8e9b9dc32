"""What declarations promise: defaults, version ranges, tags, null, zero copies, and errors that name the field."""

import subprocess
import sys

import pytest

from barnabas.wire.codec import WireError, chunk_encoder, decode, decoder, encode, encode_chunks, encoder
from barnabas.wire.encoding import SEPARATE_CHUNK_MIN_BYTES
from barnabas.wire.fields import (
    ZERO_UUID,
    Versions,
    array,
    boolean,
    bytes_,
    float64,
    int8,
    int16,
    int32,
    int64,
    parse_versions,
    string,
    struct,
    uint16,
    uint32,
    uuid,
)
from barnabas.wire.messages.fetch import FetchableTopicResponse, FetchResponse, PartitionData
from barnabas.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from barnabas.wire.messages.produce import (
    LeaderIdAndEpoch,
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from barnabas.wire.struct import Message, Struct, maker


class Point(Struct):
    x: int = int32()
    y: int = int32("1+", default=-1)


class Sample(Message, api_key=99, versions="0-4", flexible="2+"):
    flag: bool = boolean()
    tiny: int = int8()
    small: int = int16(default=7)
    port: int = uint16("1+", ignorable=True)
    wide: int = uint32("1+")
    ratio: float = float64("1+")
    name: str = string()
    note: str | None = string(nullable="1+")
    blob: bytes | None = bytes_(nullable="0+", default=None)
    point: Point = struct(Point)
    corner: Point | None = struct(Point, "2+", nullable="0+", default=None)
    path: list[Point] = array(Point)
    ids: list[bytes] = array(uuid)
    counts: list[int] | None = array(int64, nullable="0+")
    topic_id: bytes = uuid("3+", tag=1)
    label: str = string("3+", tag=0)
    marks: list[int] = array(int8, "3+", tag=5)


FULL = Sample(
    flag=True,
    tiny=-5,
    small=300,
    port=65535,
    wide=4_000_000_000,
    ratio=0.5,
    name="ä",
    note="n",
    blob=b"b",
    point=Point(x=1, y=2),
    corner=Point(x=3, y=4),
    path=[Point(x=5, y=6), Point(x=7, y=8)],
    ids=[b"0123456789abcdef"],
    counts=[1, -1],
    topic_id=b"fedcba9876543210",
    label="tag",
    marks=[1, 2],
)


def test_bytes_of_a_whole_message() -> None:
    expected = (
        "01 fb 012c ffff ee6b2800 3fe0000000000000"  # the fixed fields in a row
        " 03c3a4 026e 0262"
        " 00000001 00000002 00"  # point
        " 01 00000003 00000004 00"  # corner, marked as present
        " 03 00000005 00000006 00 00000007 00000008 00"  # path
        " 02 30313233343536373839616263646566"
        " 03 0000000000000001 ffffffffffffffff"
        " 03 00 04 04746167 01 10 66656463626139383736353433323130 05 03 030102"  # tags in the order of their numbers
    )
    data = bytes.fromhex(expected)
    assert encode(FULL, 4) == data
    assert decode(Sample, 4, data) == (FULL, len(data))


def test_fields_of_other_versions_get_their_defaults() -> None:
    decoded, _ = decode(Sample, 0, encode(Sample(tiny=1, point=Point(x=9)), 0))
    assert decoded == Sample(tiny=1, point=Point(x=9))
    assert decoded.point.y == -1
    assert decoded.topic_id == ZERO_UUID
    assert decoded.counts == []
    assert decoded.corner is None


def test_defaults_are_not_shared() -> None:
    first, second = Sample(), Sample()
    first.path.append(Point())
    first.point.x = 1
    assert second == Sample()
    decoded = [decode(Sample, 0, encode(Sample(), 0))[0] for _ in range(2)]
    decoded[0].marks.append(1)
    assert decoded[1].marks == []


@pytest.mark.parametrize(
    ("message", "version", "field"),
    [
        (Sample(wide=1), 0, "wide"),
        (Sample(ratio=1.0), 0, "ratio"),
        (Sample(corner=Point()), 1, "corner"),
        (Sample(point=Point(y=0)), 0, "point.y"),
        (Sample(path=[Point(), Point(y=3)]), 0, "path.y"),
        (Sample(topic_id=b"1" * 16), 2, "topic_id"),
        (Sample(marks=[1]), 2, "marks"),
    ],
)
def test_a_value_that_the_version_cannot_carry_is_refused(message: Sample, version: int, field: str) -> None:
    with pytest.raises(WireError, match=rf"Sample v{version}, field {field}: .*this version does not have the field"):
        encode(message, version)


def test_an_ignorable_field_is_left_out() -> None:
    assert encode(Sample(port=9), 0) == encode(Sample(), 0)


@pytest.mark.parametrize(
    ("message", "field", "reason"),
    [
        (Sample(tiny=128), "flag to ratio", "cannot be written"),
        (Sample(small=1 << 15), "flag to ratio", "cannot be written"),
        (Sample(name=None), "name", "null is not allowed"),  # type: ignore[arg-type]
        (Sample(name="x" * 32768), "name", "string of 32768 bytes"),
        (Sample(name="\ud800"), "name", "surrogates not allowed"),
        (Sample(path=None), "path", "null is not allowed"),  # type: ignore[arg-type]
        (Sample(path=[None]), "path.x to path.y", "null is not allowed"),  # type: ignore[list-item]
        (Sample(point=None), "point.x to point.y", "null is not allowed"),  # type: ignore[arg-type]
        (Sample(ids=[b"short"]), "ids", "not a UUID of 16 bytes"),
        (Sample(topic_id=b""), "topic_id", "not a UUID of 16 bytes"),
        (Sample(counts=[1.5]), "counts", "cannot be written"),  # type: ignore[list-item]
    ],
)
def test_a_value_that_does_not_fit_is_refused(message: Sample, field: str, reason: str) -> None:
    with pytest.raises(WireError, match=reason) as caught:
        encode(message, 4)
    # Fixed fields are packed together, so the message names the first and the last of them.
    assert f"Sample v4, field {field}:" in str(caught.value)


def test_null_is_refused_where_the_version_does_not_allow_it() -> None:
    assert decode(Sample, 1, encode(Sample(note=None), 1))[0].note is None
    with pytest.raises(WireError, match="field note: null is not allowed here in this version"):
        encode(Sample(note=None), 0)


def test_a_version_that_is_not_declared() -> None:
    for version in (-1, 5):
        with pytest.raises(WireError, match=f"Sample has no version {version}; the known versions are 0-4"):
            encode(Sample(), version)
        with pytest.raises(WireError, match=f"Sample has no version {version}"):
            decode(Sample, version, b"")


def test_unknown_tags_are_skipped() -> None:
    data = encode(FULL, 4)
    known = data[-30:]
    assert known[0] == 3
    unknown = b"\x05" + known[1:7] + b"\x02\x03abc" + known[7:] + b"\x81\x01\x00"
    decoded, end = decode(Sample, 4, data[:-30] + unknown)
    assert decoded == FULL
    assert end == len(data) - 30 + len(unknown)
    empty = encode(Sample(), 2)
    assert decode(Sample, 2, empty[:-1] + b"\x01\x09\x02hi") == (Sample(), len(empty) + 4)


def test_tagged_fields_at_their_default_are_not_written() -> None:
    assert encode(Sample(), 4)[-1:] == b"\x00"
    response = ProduceResponse(responses=[TopicProduceResponse(partition_responses=[PartitionProduceResponse()])])
    plain = len(encode(response, 10))
    response.responses[0].partition_responses[0].current_leader = LeaderIdAndEpoch(leader_id=1, leader_epoch=2)
    assert len(encode(response, 10)) == plain + 11


def test_long_lengths_take_more_bytes() -> None:
    for count in (126, 127, 128, 16383, 20000):
        message = Sample(name="x" * count, path=[Point(x=n, y=0) for n in range(count)], counts=[3] * count)
        data = encode(message, 4)
        assert decode(Sample, 4, data) == (message, len(data))


def test_records_are_a_view_of_the_buffer() -> None:
    request = ProduceRequest(
        topic_data=[TopicProduceData(name="t", partition_data=[PartitionProduceData(records=b"batch")])]
    )
    buffer = bytearray(encode(request, 9))
    decoded, _ = decode(ProduceRequest, 9, buffer)
    records = decoded.topic_data[0].partition_data[0].records
    assert isinstance(records, memoryview)
    assert bytes(records) == b"batch"
    records[0:1] = b"B"
    assert b"Batch" in buffer


def test_other_fields_do_not_hold_the_buffer() -> None:
    buffer = bytearray(encode(FULL, 4))
    decoded, _ = decode(Sample, 4, buffer)
    buffer.clear()  # a BufferError if anything still looked into it
    assert decoded == FULL


def test_large_records_are_chunks_of_their_own() -> None:
    large, small = b"L" * SEPARATE_CHUNK_MIN_BYTES, b"s" * (SEPARATE_CHUNK_MIN_BYTES - 1)
    view = memoryview(large)
    partitions = [
        PartitionData(partition_index=number, records=records)
        for number, records in enumerate((view, small, None, view))
    ]
    response = FetchResponse(responses=[FetchableTopicResponse(topic="t", partitions=partitions)])
    chunks = encode_chunks(response, 12)
    assert [chunk for chunk in chunks if chunk is view] == [view, view]
    assert len(chunks) == 5
    assert b"".join(chunks) == encode(response, 12)


def test_messages_without_records_are_one_chunk() -> None:
    assert encode_chunks(FULL, 4) == [encode(FULL, 4)]


def test_compiled_functions_are_kept() -> None:
    assert decoder(Sample, 3) is decoder(Sample, 3)
    assert encoder(Sample, 3) is encoder(Sample, 3)
    assert chunk_encoder(Sample, 3) is chunk_encoder(Sample, 3)
    assert decoder(Sample, 3) is not decoder(Sample, 4)


def test_constructor_refuses_unknown_names_and_positions() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        Point(z=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="positional"):
        Point(1)  # type: ignore[call-arg]
    with pytest.raises(AttributeError):
        Point().z = 1  # type: ignore[attr-defined]


def test_maker_makes_what_the_constructor_makes() -> None:
    make = maker(Sample)
    assert make() == Sample()
    assert make(tiny=3, path=[Point(x=1)]) == Sample(tiny=3, path=[Point(x=1)])
    assert make().path is not make().path


def test_equality_and_appearance() -> None:
    assert Point(x=1, y=2) == Point(x=1, y=2)
    assert Point(x=1, y=2) != Point(x=1, y=3)
    assert Point() != (0, -1)
    assert repr(Point(x=1)) == "Point(x=1, y=-1)"
    assert "blob=<1000 bytes>" in repr(Sample(blob=bytes(1000)))
    with pytest.raises(TypeError, match="unhashable"):
        hash(Point())


@pytest.mark.parametrize(
    ("text", "low", "high"), [("0+", 0, 32767), ("3-13", 3, 13), ("5", 5, 5), ("none", 0, -1), (None, 0, -1)]
)
def test_version_ranges(text: str | None, low: int, high: int) -> None:
    assert parse_versions(text) == (low, high)


def test_version_ranges_in_words() -> None:
    assert str(Versions(3, 13)) == "3-13"
    assert str(Versions(0, 0)) == "0"


def test_an_old_metadata_request_has_no_null() -> None:
    """Version 0 asks for all topics by an empty list; null came with version 1."""
    assert decode(MetadataRequest, 0, b"\x00\x00\x00\x00")[0].topics == []
    assert decode(MetadataRequest, 1, b"\xff\xff\xff\xff")[0].topics is None
    with pytest.raises(WireError, match="field topics: element count -1 is negative"):
        decode(MetadataRequest, 0, b"\xff\xff\xff\xff")
    named = MetadataRequest(topics=[MetadataRequestTopic(name="t")])
    assert encode(named, 1) == b"\x00\x00\x00\x01\x00\x01t"


def test_importing_a_declaration_compiles_nothing() -> None:
    script = (
        "import sys; import barnabas.wire.messages.fetch as m; "
        "assert 'barnabas.wire.codec' not in sys.modules; assert m.FetchRequest.DECODERS == {}; "
        "assert '__init__' not in vars(m.FetchRequest)"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)
