"""Authentication, access control lists, credentials and quotas."""

from __future__ import annotations

from typing import Final, NamedTuple

from headrace.wire.codes import ErrorCode

LITERAL = 3

# What a message that holds a password, or a proof of one, looks like in a log or a traceback.
_CONCEALED: Final = "<concealed>"


class SaslHandshakeRequest(NamedTuple):
    mechanism: str


class SaslHandshakeResponse(NamedTuple):
    error_code: ErrorCode
    mechanisms: tuple[str, ...]


class SaslAuthenticateRequest(NamedTuple):
    auth_bytes: bytes

    def __repr__(self) -> str:
        return _CONCEALED


class SaslAuthenticateResponse(NamedTuple):
    error_code: ErrorCode
    error_message: str | None = None
    auth_bytes: bytes = b""
    session_lifetime_ms: int = 0

    def __repr__(self) -> str:
        return _CONCEALED


class AclCreation(NamedTuple):
    resource_type: int
    resource_name: str
    principal: str
    host: str
    operation: int
    permission_type: int
    resource_pattern_type: int = LITERAL


class CreateAclsRequest(NamedTuple):
    creations: tuple[AclCreation, ...]


class AclCreationResult(NamedTuple):
    error_code: ErrorCode
    error_message: str | None = None


class CreateAclsResponse(NamedTuple):
    results: tuple[AclCreationResult, ...]


class DescribeAclsRequest(NamedTuple):
    """Also one filter of DeleteAcls."""

    resource_type_filter: int
    resource_name_filter: str | None
    principal_filter: str | None
    host_filter: str | None
    operation: int
    permission_type: int
    pattern_type_filter: int = LITERAL


class AclDescription(NamedTuple):
    principal: str
    host: str
    operation: int
    permission_type: int


class AclsOfResource(NamedTuple):
    resource_type: int
    resource_name: str
    pattern_type: int
    acls: tuple[AclDescription, ...]


class DescribeAclsResponse(NamedTuple):
    error_code: ErrorCode
    error_message: str | None = None
    resources: tuple[AclsOfResource, ...] = ()


class DeleteAclsRequest(NamedTuple):
    filters: tuple[DescribeAclsRequest, ...]


class DeletedAcl(NamedTuple):
    error_code: ErrorCode
    error_message: str | None
    resource_type: int
    resource_name: str
    pattern_type: int
    principal: str
    host: str
    operation: int
    permission_type: int


class DeleteAclsResult(NamedTuple):
    error_code: ErrorCode
    error_message: str | None = None
    matching_acls: tuple[DeletedAcl, ...] = ()


class DeleteAclsResponse(NamedTuple):
    filter_results: tuple[DeleteAclsResult, ...]


class UserName(NamedTuple):
    name: str


class DescribeScramRequest(NamedTuple):
    """`users` None or empty means all."""

    users: tuple[UserName, ...] | None = None


class CredentialInfo(NamedTuple):
    mechanism: int
    iterations: int


class DescribedUser(NamedTuple):
    user: str
    error_code: ErrorCode
    error_message: str | None = None
    credential_infos: tuple[CredentialInfo, ...] = ()


class DescribeScramResponse(NamedTuple):
    error_code: ErrorCode
    error_message: str | None = None
    results: tuple[DescribedUser, ...] = ()


class ScramDeletion(NamedTuple):
    name: str
    mechanism: int


class ScramUpsertion(NamedTuple):
    name: str
    mechanism: int
    iterations: int
    salt: bytes
    salted_password: bytes

    def __repr__(self) -> str:
        return _CONCEALED


class AlterScramRequest(NamedTuple):
    deletions: tuple[ScramDeletion, ...]
    upsertions: tuple[ScramUpsertion, ...]


class AlteredUser(NamedTuple):
    user: str
    error_code: ErrorCode
    error_message: str | None = None


class AlterScramResponse(NamedTuple):
    results: tuple[AlteredUser, ...]


class QuotaComponent(NamedTuple):
    entity_type: str
    match_type: int
    match: str | None


class DescribeQuotasRequest(NamedTuple):
    components: tuple[QuotaComponent, ...]
    strict: bool = False


class QuotaEntity(NamedTuple):
    """`entity_name` None means the default of its type."""

    entity_type: str
    entity_name: str | None


class QuotaValue(NamedTuple):
    key: str
    value: float


class QuotaEntry(NamedTuple):
    entity: tuple[QuotaEntity, ...]
    values: tuple[QuotaValue, ...]


class DescribeQuotasResponse(NamedTuple):
    error_code: ErrorCode
    error_message: str | None = None
    entries: tuple[QuotaEntry, ...] | None = None


class QuotaOperation(NamedTuple):
    key: str
    value: float
    remove: bool


class AlteredQuota(NamedTuple):
    entity: tuple[QuotaEntity, ...]
    ops: tuple[QuotaOperation, ...]


class AlterQuotasRequest(NamedTuple):
    entries: tuple[AlteredQuota, ...]
    validate_only: bool = False


class AlteredQuotaResult(NamedTuple):
    error_code: ErrorCode
    error_message: str | None
    entity: tuple[QuotaEntity, ...]


class AlterQuotasResponse(NamedTuple):
    entries: tuple[AlteredQuotaResult, ...]
