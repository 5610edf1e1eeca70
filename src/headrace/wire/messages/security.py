"""Authentication, access control lists, credentials and quotas."""

from __future__ import annotations

from dataclasses import dataclass, field

from headrace.wire.codes import ErrorCode

LITERAL = 3


@dataclass(frozen=True, slots=True)
class SaslHandshakeRequest:
    mechanism: str


@dataclass(frozen=True, slots=True)
class SaslHandshakeResponse:
    error_code: ErrorCode
    mechanisms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SaslAuthenticateRequest:
    auth_bytes: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class SaslAuthenticateResponse:
    error_code: ErrorCode
    error_message: str | None = None
    auth_bytes: bytes = field(default=b"", repr=False)
    session_lifetime_ms: int = 0


@dataclass(frozen=True, slots=True)
class AclCreation:
    resource_type: int
    resource_name: str
    principal: str
    host: str
    operation: int
    permission_type: int
    resource_pattern_type: int = LITERAL


@dataclass(frozen=True, slots=True)
class CreateAclsRequest:
    creations: tuple[AclCreation, ...]


@dataclass(frozen=True, slots=True)
class AclCreationResult:
    error_code: ErrorCode
    error_message: str | None = None


@dataclass(frozen=True, slots=True)
class CreateAclsResponse:
    results: tuple[AclCreationResult, ...]


@dataclass(frozen=True, slots=True)
class DescribeAclsRequest:
    """Also one filter of DeleteAcls."""

    resource_type_filter: int
    resource_name_filter: str | None
    principal_filter: str | None
    host_filter: str | None
    operation: int
    permission_type: int
    pattern_type_filter: int = LITERAL


@dataclass(frozen=True, slots=True)
class AclDescription:
    principal: str
    host: str
    operation: int
    permission_type: int


@dataclass(frozen=True, slots=True)
class AclsOfResource:
    resource_type: int
    resource_name: str
    pattern_type: int
    acls: tuple[AclDescription, ...]


@dataclass(frozen=True, slots=True)
class DescribeAclsResponse:
    error_code: ErrorCode
    error_message: str | None = None
    resources: tuple[AclsOfResource, ...] = ()


@dataclass(frozen=True, slots=True)
class DeleteAclsRequest:
    filters: tuple[DescribeAclsRequest, ...]


@dataclass(frozen=True, slots=True)
class DeletedAcl:
    error_code: ErrorCode
    error_message: str | None
    resource_type: int
    resource_name: str
    pattern_type: int
    principal: str
    host: str
    operation: int
    permission_type: int


@dataclass(frozen=True, slots=True)
class DeleteAclsResult:
    error_code: ErrorCode
    error_message: str | None = None
    matching_acls: tuple[DeletedAcl, ...] = ()


@dataclass(frozen=True, slots=True)
class DeleteAclsResponse:
    filter_results: tuple[DeleteAclsResult, ...]


@dataclass(frozen=True, slots=True)
class UserName:
    name: str


@dataclass(frozen=True, slots=True)
class DescribeScramRequest:
    """`users` None or empty means all."""

    users: tuple[UserName, ...] | None = None


@dataclass(frozen=True, slots=True)
class CredentialInfo:
    mechanism: int
    iterations: int


@dataclass(frozen=True, slots=True)
class DescribedUser:
    user: str
    error_code: ErrorCode
    error_message: str | None = None
    credential_infos: tuple[CredentialInfo, ...] = ()


@dataclass(frozen=True, slots=True)
class DescribeScramResponse:
    error_code: ErrorCode
    error_message: str | None = None
    results: tuple[DescribedUser, ...] = ()


@dataclass(frozen=True, slots=True)
class ScramDeletion:
    name: str
    mechanism: int


@dataclass(frozen=True, slots=True)
class ScramUpsertion:
    name: str
    mechanism: int
    iterations: int
    salt: bytes = field(repr=False)
    salted_password: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class AlterScramRequest:
    deletions: tuple[ScramDeletion, ...]
    upsertions: tuple[ScramUpsertion, ...]


@dataclass(frozen=True, slots=True)
class AlteredUser:
    user: str
    error_code: ErrorCode
    error_message: str | None = None


@dataclass(frozen=True, slots=True)
class AlterScramResponse:
    results: tuple[AlteredUser, ...]


@dataclass(frozen=True, slots=True)
class QuotaComponent:
    entity_type: str
    match_type: int
    match: str | None


@dataclass(frozen=True, slots=True)
class DescribeQuotasRequest:
    components: tuple[QuotaComponent, ...]
    strict: bool = False


@dataclass(frozen=True, slots=True)
class QuotaEntity:
    """`entity_name` None means the default of its type."""

    entity_type: str
    entity_name: str | None


@dataclass(frozen=True, slots=True)
class QuotaValue:
    key: str
    value: float


@dataclass(frozen=True, slots=True)
class QuotaEntry:
    entity: tuple[QuotaEntity, ...]
    values: tuple[QuotaValue, ...]


@dataclass(frozen=True, slots=True)
class DescribeQuotasResponse:
    error_code: ErrorCode
    error_message: str | None = None
    entries: tuple[QuotaEntry, ...] | None = None


@dataclass(frozen=True, slots=True)
class QuotaOperation:
    key: str
    value: float
    remove: bool


@dataclass(frozen=True, slots=True)
class AlteredQuota:
    entity: tuple[QuotaEntity, ...]
    ops: tuple[QuotaOperation, ...]


@dataclass(frozen=True, slots=True)
class AlterQuotasRequest:
    entries: tuple[AlteredQuota, ...]
    validate_only: bool = False


@dataclass(frozen=True, slots=True)
class AlteredQuotaResult:
    error_code: ErrorCode
    error_message: str | None
    entity: tuple[QuotaEntity, ...]


@dataclass(frozen=True, slots=True)
class AlterQuotasResponse:
    entries: tuple[AlteredQuotaResult, ...]
