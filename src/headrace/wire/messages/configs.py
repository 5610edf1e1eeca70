"""Settings of topics and brokers: describing and changing them."""

from __future__ import annotations

from typing import NamedTuple

from headrace.wire.codes import ErrorCode


class ConfigResource(NamedTuple):
    resource_type: int
    resource_name: str
    configuration_keys: tuple[str, ...] | None = None


class DescribeConfigsRequest(NamedTuple):
    resources: tuple[ConfigResource, ...]
    include_synonyms: bool = False
    include_documentation: bool = False


class ConfigSynonym(NamedTuple):
    name: str
    value: str | None
    source: int


class DescribedConfig(NamedTuple):
    name: str
    value: str | None
    read_only: bool = False
    config_source: int = 5
    is_sensitive: bool = False
    synonyms: tuple[ConfigSynonym, ...] = ()
    config_type: int = 0
    documentation: str | None = None


class DescribedResource(NamedTuple):
    error_code: ErrorCode
    error_message: str | None
    resource_type: int
    resource_name: str
    configs: tuple[DescribedConfig, ...] = ()


class DescribeConfigsResponse(NamedTuple):
    results: tuple[DescribedResource, ...]


class AlteredConfig(NamedTuple):
    """`config_operation` is only in IncrementalAlterConfigs."""

    name: str
    value: str | None
    config_operation: int = 0


class AlteredResource(NamedTuple):
    resource_type: int
    resource_name: str
    configs: tuple[AlteredConfig, ...]


class AlterConfigsRequest(NamedTuple):
    """The same for AlterConfigs, which replaces all settings, and IncrementalAlterConfigs, which changes some."""

    resources: tuple[AlteredResource, ...]
    validate_only: bool = False


class AlteredResult(NamedTuple):
    error_code: ErrorCode
    error_message: str | None
    resource_type: int
    resource_name: str


class AlterConfigsResponse(NamedTuple):
    responses: tuple[AlteredResult, ...]


class ListConfigResourcesRequest(NamedTuple):
    """No types: all that there are. Version 0 asks for clients' metrics only, and names no type."""

    resource_types: tuple[int, ...] = ()


class ListedResource(NamedTuple):
    resource_name: str
    resource_type: int = 16


class ListConfigResourcesResponse(NamedTuple):
    error_code: ErrorCode
    config_resources: tuple[ListedResource, ...] = ()
