"""Object storage: a folder, memory, or a bucket, all behind the same few calls."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headrace.errors import ExternalFailure, InvalidInput, NotFound

if TYPE_CHECKING:
    from obstore.store import ObjectStore as Backend

SCHEMES = ("s3", "s3a", "gs", "az", "abfs", "file", "memory")


class ObjectStore:
    """Objects by key. Every method raises ExternalFailure when the storage refuses."""

    def __init__(self, backend: Backend, name: str) -> None:
        self._backend = backend
        self.name = name

    def put(self, key: str, content: bytes) -> None:
        """Complete and durable afterwards, as far as the storage promises."""
        import obstore  # noqa: PLC0415  (50 MB that only those who archive need)

        self._guarded(obstore.put, self._backend, key, content)

    def put_file(self, key: str, path: Path) -> None:
        """As `put`, of a whole file, which is never in memory as a whole."""
        import obstore  # noqa: PLC0415

        self._guarded(obstore.put, self._backend, key, path)

    def stream(self, key: str, chunk_bytes: int) -> Iterator[bytes]:
        """The object in chunks of about this size. Raises NotFound."""
        import obstore  # noqa: PLC0415

        found = self._guarded(obstore.get, self._backend, key)
        chunks = iter(found.stream(min_chunk_size=chunk_bytes))
        while (chunk := self._guarded(next, chunks, None)) is not None:
            yield bytes(chunk)

    def get(self, key: str) -> bytes:
        """Raises NotFound."""
        import obstore  # noqa: PLC0415

        return bytes(self._guarded(obstore.get, self._backend, key).bytes())

    def list(self, prefix: str) -> list[str]:
        """Keys below a prefix, sorted."""
        import obstore  # noqa: PLC0415

        found = self._guarded(lambda: [entry["path"] for page in obstore.list(self._backend, prefix) for entry in page])
        return sorted(str(key) for key in found)

    def delete(self, key: str) -> None:
        """Nothing happens when it is not there."""
        import obstore  # noqa: PLC0415

        try:
            self._guarded(obstore.delete, self._backend, key)
        except NotFound:
            return

    def _guarded(self, call: Any, *arguments: Any) -> Any:
        from obstore.exceptions import BaseError  # noqa: PLC0415

        try:
            return call(*arguments)
        except FileNotFoundError as error:
            raise NotFound(f"{self.name}: {error}") from error
        except (BaseError, OSError) as error:
            raise ExternalFailure(f"{self.name}: {error}", hint="check the address and its credentials") from error


def open_objects(place: str) -> ObjectStore:
    """A folder, or an address such as s3://bucket/prefix; credentials come from the environment.

    Raises InvalidInput for an address that is none, ExternalFailure when it cannot be opened.
    """
    from obstore.exceptions import BaseError  # noqa: PLC0415
    from obstore.store import LocalStore, from_url  # noqa: PLC0415

    scheme, separator, _ = place.partition("://")
    if separator and scheme not in SCHEMES:
        raise InvalidInput(f"{place!r} is no object storage", valid=["a folder", *(f"{s}://…" for s in SCHEMES)])
    try:
        if not separator:
            return ObjectStore(LocalStore(Path(place).absolute(), mkdir=True), place)
        return ObjectStore(from_url(place), place)
    except (BaseError, OSError, ValueError) as error:
        raise ExternalFailure(f"{place} cannot be opened: {error}") from error
