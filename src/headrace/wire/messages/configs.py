"""Settings of topics and brokers: describing and changing them."""

from __future__ import annotations

from dataclasses import dataclass

from headrace.wire.codes import ErrorCode


@dataclass(frozen=True, slots=True)
class ConfigResource:
    resource_type: int
    resource_name: str
    configuration_keys: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class DescribeConfigsRequest:
    resources: tuple[ConfigResource, ...]
    include_synonyms: bool = False
    include_documentation: bool = False


@dataclass(frozen=True, slots=True)
class ConfigSynonym:
    name: str
    value: str | None
    source: int


@dataclass(frozen=True, slots=True)
class DescribedConfig:
    name: str
    value: str | None
    read_only: bool = False
    config_source: int = 5
    is_sensitive: bool = False
    synonyms: tuple[ConfigSynonym, ...] = ()
    config_type: int = 0
    documentation: str | None = None


@dataclass(frozen=True, slots=True)
class DescribedResource:
    error_code: ErrorCode
    error_message: str | None
    resource_type: int
    resource_name: str
    configs: tuple[DescribedConfig, ...] = ()


@dataclass(frozen=True, slots=True)
class DescribeConfigsResponse:
    results: tuple[DescribedResource, ...]


@dataclass(frozen=True, slots=True)
class AlteredConfig:
    """`config_operation` is only in IncrementalAlterConfigs."""

    name: str
    value: str | None
    config_operation: int = 0


@dataclass(frozen=True, slots=True)
class AlteredResource:
    resource_type: int
    resource_name: str
    configs: tuple[AlteredConfig, ...]


@dataclass(frozen=True, slots=True)
class AlterConfigsRequest:
    """The same for AlterConfigs, which replaces all settings, and IncrementalAlterConfigs, which changes some."""

    resources: tuple[AlteredResource, ...]
    validate_only: bool = False


@dataclass(frozen=True, slots=True)
class AlteredResult:
    error_code: ErrorCode
    error_message: str | None
    resource_type: int
    resource_name: str


@dataclass(frozen=True, slots=True)
class AlterConfigsResponse:
    responses: tuple[AlteredResult, ...]
