"""Who leads, and how members of any kind are told."""

import orjson
import pytest

from barnabas.kernel.leadership.assignment import DUPLICATE_URLS, NO_ERROR, Assignment, elect
from barnabas.kernel.leadership.identity import Identity

A = Identity("http", "a", 8081)
B = Identity("http", "b", 8081)
C = Identity("http", "b", 10081)


@pytest.mark.parametrize(
    ("members", "sticky", "leader", "error"),
    [
        ([A], False, A, NO_ERROR),
        ([B, A, C], False, A, NO_ERROR),
        # URLs are compared as texts, so 10081 comes before 8081.
        ([B, C], False, C, NO_ERROR),
        ([Identity("http", "a", 1, eligible=False), B], False, B, NO_ERROR),
        ([Identity("http", "a", 1, eligible=False)], False, None, NO_ERROR),
        ([], False, None, NO_ERROR),
        ([A, A, B], False, A, DUPLICATE_URLS),
        ([A, Identity("http", "b", 8081, leads=True)], False, A, NO_ERROR),
        ([A, Identity("http", "b", 8081, leads=True)], True, B, NO_ERROR),
        ([A, Identity("http", "b", 1, eligible=False, leads=True)], True, A, NO_ERROR),
        ([A, Identity("http", "b", 1, leads=True), Identity("http", "c", 1, leads=True)], True, A, NO_ERROR),
    ],
)
def test_the_smallest_url_leads(members: list[Identity], sticky: bool, leader: Identity | None, error: int) -> None:
    found = elect({f"member-{number}": identity for number, identity in enumerate(members)}, sticky=sticky)
    assert (found.leader and found.leader.url, found.error) == (leader and leader.url, error)
    assert (found.leader_id is None) == (leader is None)


def test_an_identity_is_told_as_confluents_instances_tell_it() -> None:
    assert orjson.loads(A.encode()) == {
        "version": 1,
        "host": "a",
        "port": 8081,
        "master_eligibility": True,
        "scheme": "http",
        "leader": False,
    }
    assert Identity.from_json(orjson.loads(A.encode())) == A


def test_an_assignment_is_told_as_confluents_instances_tell_it() -> None:
    assignment = Assignment("m-1", A)
    assert orjson.loads(assignment.encode()) == {
        "version": 1,
        "error": 0,
        "master": "m-1",
        "master_identity": A.to_json(),
    }
    assert Assignment.parse(assignment.encode()) == assignment
    assert orjson.loads(Assignment(None, None).encode()) == {"version": 1, "error": 0}
    assert Assignment.parse(Assignment(None, None, DUPLICATE_URLS).encode()) == Assignment(None, None, DUPLICATE_URLS)


def test_what_karapace_assigns_is_read() -> None:
    identity = b'{"version":2,"karapace_version":"4","host":"k","port":8081,"scheme":"https","master_eligibility":%s}'
    raw = b'{"master":"m","master_identity":%s,"error":0}'
    assert Assignment.parse(raw % (identity % b"true")) == Assignment("m", Identity("https", "k", 8081))
    # Karapace names somebody even when nobody may lead.
    assert Assignment.parse(raw % (identity % b"false")) == Assignment(None, None)


@pytest.mark.parametrize("raw", [b"", b"{", b"7", b'{"master_identity":7}', b'{"master_identity":{"host":"a"}}'])
def test_what_is_no_assignment_is_refused(raw: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        Assignment.parse(raw)
