"""Access lists, tokens and credentials on a broker without an authorizer and without authentication."""

from __future__ import annotations

import hashlib
import hmac

import pytest

from barnabas.wire.errors import ErrorCode
from barnabas.wire.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from barnabas.wire.messages.create_acls import AclCreation, CreateAclsRequest, CreateAclsResponse
from barnabas.wire.messages.create_delegation_token import CreateDelegationTokenRequest, CreateDelegationTokenResponse
from barnabas.wire.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest, DeleteAclsResponse
from barnabas.wire.messages.describe_acls import DescribeAclsRequest, DescribeAclsResponse
from barnabas.wire.messages.describe_delegation_token import (
    DescribeDelegationTokenRequest,
    DescribeDelegationTokenResponse,
)
from barnabas.wire.messages.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    UserName,
)
from barnabas.wire.messages.expire_delegation_token import ExpireDelegationTokenRequest, ExpireDelegationTokenResponse
from barnabas.wire.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from barnabas.wire.messages.renew_delegation_token import RenewDelegationTokenRequest, RenewDelegationTokenResponse
from core_broker.metadata.image import ScramCredential, ScramKey
from core_broker.security.authorizer import CLUSTER_NAME, Operation, ResourceType
from tests.core_broker.apis.context import AdminBroker, Denies

SHA_256, SHA_512 = 1, 2
NOTHING_ALLOWED = Denies(
    (Operation.DESCRIBE, ResourceType.CLUSTER, CLUSTER_NAME), (Operation.ALTER, ResourceType.CLUSTER, CLUSTER_NAME)
)
FORBIDDEN = ErrorCode.CLUSTER_AUTHORIZATION_FAILED


@pytest.mark.parametrize("version", range(1, 4))
@pytest.mark.parametrize("allowed", [True, False])
def test_there_are_no_access_lists(admin: AdminBroker, version: int, allowed: bool) -> None:
    if not allowed:
        admin.authorizer = NOTHING_ALLOWED
    code = ErrorCode.SECURITY_DISABLED if allowed else FORBIDDEN
    described = admin.ask(DescribeAclsRequest(resource_name_filter=None), version, expect=DescribeAclsResponse)
    assert (described.error_code, described.resources) == (code, [])
    created = admin.ask(CreateAclsRequest(creations=[AclCreation(), AclCreation()]), version, expect=CreateAclsResponse)
    assert [result.error_code for result in created.results] == [code, code]
    deleted = admin.ask(DeleteAclsRequest(filters=[DeleteAclsFilter()]), version, expect=DeleteAclsResponse)
    assert [result.error_code for result in deleted.filter_results] == [code]


def test_there_are_no_tokens_for_those_who_are_not_authenticated(admin: AdminBroker) -> None:
    code = ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
    for version in (1, 2, 3):
        created = admin.ask(CreateDelegationTokenRequest(), version, expect=CreateDelegationTokenResponse)
        assert (created.error_code, created.principal_name, created.issue_timestamp_ms) == (code, "ANONYMOUS", -1)
        described = admin.ask(
            DescribeDelegationTokenRequest(owners=None), version, expect=DescribeDelegationTokenResponse
        )
        assert (described.error_code, described.tokens) == (code, [])
    for version in (1, 2):
        renewed = admin.ask(RenewDelegationTokenRequest(hmac=b"x"), version, expect=RenewDelegationTokenResponse)
        expired = admin.ask(ExpireDelegationTokenRequest(hmac=b"x"), version, expect=ExpireDelegationTokenResponse)
        assert (renewed.error_code, renewed.expiry_timestamp_ms) == (code, -1)
        assert (expired.error_code, expired.expiry_timestamp_ms) == (code, -1)


def password(
    user: str, mechanism: int = SHA_256, iterations: int = 4096, salted: bytes = b"p" * 32
) -> ScramCredentialUpsertion:
    return ScramCredentialUpsertion(
        name=user, mechanism=mechanism, iterations=iterations, salt=b"salt", salted_password=salted
    )


def change(admin: AdminBroker, *changes: ScramCredentialUpsertion | tuple[str, int]) -> dict[str, int]:
    request = AlterUserScramCredentialsRequest(
        upsertions=[each for each in changes if isinstance(each, ScramCredentialUpsertion)],
        deletions=[
            ScramCredentialDeletion(name=each[0], mechanism=each[1]) for each in changes if isinstance(each, tuple)
        ],
    )
    response = admin.ask(request, expect=AlterUserScramCredentialsResponse)
    return {result.user: result.error_code for result in response.results}


def users(admin: AdminBroker, *names: str) -> dict[str, tuple[int, list[tuple[int, int]]]]:
    asked = [UserName(name=name) for name in names]
    response = admin.ask(
        DescribeUserScramCredentialsRequest(users=asked or None), expect=DescribeUserScramCredentialsResponse
    )
    return {
        result.user: (result.error_code, [(info.mechanism, info.iterations) for info in result.credential_infos])
        for result in response.results
    }


def test_credentials_are_kept_and_listed(admin: AdminBroker) -> None:
    assert change(admin, password("u"), password("v", SHA_512, 8192)) == {"u": 0, "v": 0}
    assert change(admin, password("u", SHA_512)) == {"u": 0}
    assert users(admin) == {"u": (0, [(SHA_256, 4096), (SHA_512, 4096)]), "v": (0, [(SHA_512, 8192)])}
    assert change(admin, ("u", SHA_256)) == {"u": 0}
    assert users(admin, "u", "w") == {"u": (0, [(SHA_512, 4096)]), "w": (ErrorCode.RESOURCE_NOT_FOUND, [])}
    assert users(admin, "u", "u") == {"u": (ErrorCode.DUPLICATE_RESOURCE, [])}


def test_of_a_password_only_what_checks_it_is_kept(admin: AdminBroker) -> None:
    change(admin, password("u"))
    client_key = hmac.digest(b"p" * 32, b"Client Key", "sha256")
    server_key = hmac.digest(b"p" * 32, b"Server Key", "sha256")
    kept = ScramCredential(b"salt", hashlib.sha256(client_key).digest(), server_key, 4096)
    assert admin.metadata.image.scram_credentials == {ScramKey("u", SHA_256): kept}


def test_credentials_that_are_refused(admin: AdminBroker) -> None:
    unacceptable = ErrorCode.UNACCEPTABLE_CREDENTIAL
    assert change(
        admin,
        password("few", iterations=4095),
        password("many", iterations=16385),
        password("empty", salted=b""),
        password(""),
        password("unknown", mechanism=9),
        password("twice"),
        password("twice", SHA_512),
        ("missing", SHA_256),
        password("good"),
    ) == {
        "missing": ErrorCode.RESOURCE_NOT_FOUND,
        "few": unacceptable,
        "many": unacceptable,
        "empty": unacceptable,
        "": unacceptable,
        "unknown": ErrorCode.UNSUPPORTED_SASL_MECHANISM,
        "twice": ErrorCode.DUPLICATE_RESOURCE,
        "good": 0,
    }
    assert set(users(admin)) == {"good"}


def test_credentials_take_permission(admin: AdminBroker) -> None:
    admin.authorizer = NOTHING_ALLOWED
    assert change(admin, password("u")) == {"u": FORBIDDEN}
    request = DescribeUserScramCredentialsRequest(users=None)
    assert admin.ask(request, expect=DescribeUserScramCredentialsResponse).error_code == FORBIDDEN
    assert not admin.metadata.image.scram_credentials


@pytest.mark.parametrize("version", range(4, 7))
@pytest.mark.parametrize("key_type", [2, 5])
def test_what_is_not_coordinated_here(admin: AdminBroker, version: int, key_type: int) -> None:
    request = FindCoordinatorRequest(key_type=key_type, coordinator_keys=["a", "b"])
    response = admin.ask(request, version, expect=FindCoordinatorResponse)
    known = key_type == 2 and version == 6
    code = ErrorCode.COORDINATOR_NOT_AVAILABLE if known else ErrorCode.INVALID_REQUEST
    assert [(each.key, each.error_code, each.node_id) for each in response.coordinators] == [
        ("a", code, -1),
        ("b", code, -1),
    ]


@pytest.mark.parametrize(
    ("key_type", "denied", "code"),
    [
        (0, (Operation.DESCRIBE, ResourceType.GROUP, "k"), ErrorCode.GROUP_AUTHORIZATION_FAILED),
        (1, (Operation.DESCRIBE, ResourceType.TRANSACTIONAL_ID, "k"), ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED),
        (2, (Operation.CLUSTER_ACTION, ResourceType.CLUSTER, CLUSTER_NAME), FORBIDDEN),
    ],
)
def test_finding_a_coordinator_takes_permission(
    admin: AdminBroker, key_type: int, denied: tuple[Operation, ResourceType, str], code: ErrorCode
) -> None:
    admin.authorizer = Denies(denied)
    request = FindCoordinatorRequest(key_type=key_type, coordinator_keys=["k"])
    (found,) = admin.ask(request, expect=FindCoordinatorResponse).coordinators
    assert found.error_code == code
