"""Ids: one for each content, however many register it at once."""

import pytest

from schema_registry.errors import StoreError
from schema_registry.operations.identifiers import ID_MAX, Identifiers
from schema_registry.schema import Schema
from schema_registry.state.context import Context

CONTENT = Schema("content")
OTHER = Schema("other")


def test_a_content_keeps_its_id_while_anybody_writes_it() -> None:
    identifiers, context = Identifiers(), Context(".")
    first, second = identifiers.reserved(context, CONTENT), identifiers.reserved(context, CONTENT)
    schema_id = first.__enter__()
    assert second.__enter__() == schema_id
    first.__exit__(None, None, None)
    with identifiers.reserved(context, CONTENT) as third, identifiers.reserved(context, OTHER) as other:
        assert third == schema_id
        assert other == schema_id + 1
    second.__exit__(None, None, None)
    with identifiers.reserved(context, CONTENT) as later:
        assert later == schema_id + 2, "an id that was given out once is not given again"


def test_no_id_is_given_that_records_cannot_carry() -> None:
    context = Context(".full")
    context.highest_id = ID_MAX
    with pytest.raises(StoreError, match="has no id left"), Identifiers().reserved(context, CONTENT):
        pytest.fail("there is none")
