"""Drafts as the editor sees them: opened from the latest version, written with the revision they replace, checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from headrace.errors import Conflict, NotFound, did_you_mean
from headrace.graph import (
    NO_REVISION,
    Diff,
    Document,
    Draft,
    DraftConflict,
    Layout,
    Store,
    Version,
    canonical,
    compare,
)
from headrace.graph.names import require_name
from headrace.operators import Catalogue
from headrace.server.models.pipelines import DraftView
from headrace.server.notations import all_notations
from headrace.server.views import draft_view
from headrace.spark.planning.checks import inspect_planned
from headrace.templates import Template

NO_BASE = 0


class StaleDraft(Conflict):
    """A conflict that carries what is there now, as the editor shows it; None where there is no draft any more."""

    def __init__(self, conflict: DraftConflict, view: DraftView | None) -> None:
        super().__init__(conflict.message, hint=conflict.hint)
        self._view = view

    def to_dict(self) -> dict[str, object]:
        return {**super().to_dict(), "current": None if self._view is None else self._view.model_dump(mode="json")}


class Drafts:
    """`running` tells the version of a pipeline that runs now, if one does; `changed` is told of every new revision."""

    def __init__(
        self,
        store: Store,
        catalogue: Catalogue,
        *,
        running: Callable[[str], Version | None],
        changed: Callable[[str, int], object],
    ) -> None:
        self._store = store
        self._catalogue = catalogue
        self._running = running
        self._changed = changed

    def open(self, pipeline: str) -> Draft:
        """Made of the latest version where there is none. One without changes of its own follows the latest version.

        Raises NotFound for a pipeline that has neither draft nor version.
        """
        draft = self._store.drafts.find(pipeline)
        try:
            latest = self._store.latest(pipeline)
        except NotFound:
            if draft is None:
                raise self._unknown(pipeline) from None
            return draft
        if draft is None:
            return self._store.drafts.open(pipeline, latest.info.number, latest.document, latest.layout)
        return self._followed(draft, latest)

    def write(
        self, document: Document, expected_revision: int, layout: Layout | None = None, base_version: int | None = None
    ) -> Draft:
        """Kept even if it cannot run. Raises StaleDraft, and InvalidInput for a name that cannot be one."""
        require_name(document.name)
        if expected_revision == NO_REVISION and base_version is None and self._exists(document.name):
            self.open(document.name)  # a draft of what is there has a revision: this writer has not seen it
        try:
            draft = self._store.drafts.write(document.name, expected_revision, document, layout, base_version)
        except DraftConflict as conflict:
            raise self._stale(conflict) from conflict
        self._changed(document.name, draft.revision)
        return draft

    def begin(self, name: str, template: Template) -> Draft:
        """A new pipeline, as a draft. Raises Conflict where the name is taken."""
        require_name(name)
        if self._exists(name) or self._store.drafts.find(name) is not None:
            raise Conflict(f"a pipeline named {name!r} exists already", hint="choose another name")
        return self.write(replace(template.document, name=name), NO_REVISION, template.layout, NO_BASE)

    def all(self) -> list[Draft]:
        """By name."""
        return list(self._store.drafts.all().values())

    def require(self, pipeline: str, expected_revision: int) -> Draft:
        """The draft, if it is at that revision. Raises StaleDraft, NotFound."""
        draft = self.open(pipeline)
        if draft.revision != expected_revision:
            raise self._stale(DraftConflict(pipeline, expected_revision, draft))
        return draft

    def discard(self, pipeline: str) -> None:
        self._store.drafts.discard(pipeline)
        self._changed(pipeline, NO_REVISION)

    def revert(self, pipeline: str) -> None:
        """Without changes afterwards: as the version that runs, or that a start would take."""
        self.discard(pipeline)
        if not self._exists(pipeline):
            return
        version, latest = self._running(pipeline) or self._store.runs_next(pipeline), self._store.latest(pipeline)
        if version.info.number != latest.info.number:
            self._store.drafts.open(pipeline, latest.info.number, version.document, version.layout)

    def view(self, draft: Draft) -> DraftView:
        diff, changes_from = self.changes(draft)
        found = inspect_planned(draft.document, self._catalogue)
        notations = all_notations(draft.document, self._catalogue)
        latest = self._latest(draft.pipeline)
        number = latest.info.number if latest else 0
        return draft_view(
            draft,
            found,
            notations,
            texts=self._store.drafts.texts(draft.pipeline),
            diff=diff,
            changes_from=changes_from,
            latest_version=number,
        )

    def write_text(self, pipeline: str, notation: str, text: str | None) -> dict[str, str]:
        """Keeps a text that cannot be read yet, beside the draft; None forgets it. All texts then. Raises NotFound."""
        self.open(pipeline)
        self._store.drafts.write_text(pipeline, notation, text)
        return self._store.drafts.texts(pipeline)

    def changes(self, draft: Draft) -> tuple[Diff, str]:
        """Against what runs, else against the latest version, else against nothing; and which of these it was."""
        running = self._running(draft.pipeline)
        reference = running or self._latest(draft.pipeline)
        against = Document(draft.pipeline) if reference is None else reference.document
        kind = "running" if running else "latest" if reference else "nothing"
        # Both: a version that was saved with other defaults of an operator means the same.
        return compare(canonical(against, self._catalogue), canonical(draft.document, self._catalogue)), kind

    def _followed(self, draft: Draft, latest: Version) -> Draft:
        if draft.base_version in (latest.info.number, NO_BASE):
            return draft
        base = self._store.get(draft.pipeline, draft.base_version).document
        own, based = (canonical(document, self._catalogue).content_hash for document in (draft.document, base))
        if own != based:
            return draft
        try:
            return self.write(latest.document, draft.revision, latest.layout, latest.info.number)
        except StaleDraft:  # somebody was quicker
            return self._store.drafts.find(draft.pipeline) or draft

    def _unknown(self, pipeline: str) -> NotFound:
        known = sorted({info.name for info in self._store.pipelines()} | self._store.drafts.all().keys())
        return NotFound(f"no pipeline is named {pipeline!r}", valid=known, hint=did_you_mean(pipeline, known))

    def _stale(self, conflict: DraftConflict) -> StaleDraft:
        return StaleDraft(conflict, None if conflict.current is None else self.view(conflict.current))

    def _exists(self, pipeline: str) -> bool:
        return self._latest(pipeline) is not None

    def _latest(self, pipeline: str) -> Version | None:
        try:
            return self._store.latest(pipeline)
        except NotFound:
            return None
