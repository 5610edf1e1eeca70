"""A query as nodes: one chain for each SELECT, named after the statement that holds it."""

from __future__ import annotations

from dataclasses import replace

from headrace.graph.document import Json
from headrace.sql.analysis import Analysis, Origin
from headrace.sql.assembly import Assembly, Output
from headrace.sql.language.dialect import columns_in
from headrace.sql.language.script import Script, Span
from headrace.sql.language.tree import Name, OperatorCall, Query, Reference, Select
from headrace.sql.refusals import refuse_query, refuse_select, refuse_source
from headrace.sql.steps import Step, node_ids, plain_steps, qualifiers_of
from headrace.sql.streams import Streams
from headrace.sql.window_steps import is_bound, window_steps


class Queries:
    """Puts the nodes of queries into an assembly. Without an analysis nothing but ids and names is checked."""

    def __init__(self, script: Script, streams: Streams, assembly: Assembly, analysis: Analysis | None) -> None:
        self._script = script
        self._streams = streams
        self._assembly = assembly
        self._analysis = analysis

    def view(self, name: Name, query: Query) -> Output:
        """The nodes of a query whose last one is called like the view: there is at least one."""
        return self.chain(query, name.text, name, last_takes_base=True)

    def chain(self, query: Query, base: str, name: Name, *, last_takes_base: bool) -> Output:
        """The nodes of a query, named after `base`. Raises InvalidSyntax for what cannot run."""
        refuse_query(self._script, query)
        return self._select(query.first, base, name, last_takes_base=last_takes_base)

    def _select(self, select: Select, base: str, name: Name, *, last_takes_base: bool) -> Output:
        refuse_select(self._script, select)
        if isinstance(select.source, OperatorCall):
            return self._call(select, select.source, base, last_takes_base=last_takes_base)
        output = self._source(select)
        steps = self._steps(select, output)
        if last_takes_base and not steps:
            steps = [Step("select", "select", {"columns": ["*"]}, ())]
        for step, node_id in zip(steps, node_ids(base, steps, last_takes_base=last_takes_base), strict=True):
            origin = Origin(name.span, step.pieces)
            output = self._assembly.add(node_id, step.operator, step.config, [("in", output)], origin)
        return output

    def _source(self, select: Select) -> Output:
        if not isinstance(select.source, Reference):
            raise refuse_source(self._script, select.source)
        return self._output(select.source)

    def _steps(self, select: Select, output: Output) -> list[Step]:
        window = select.window
        if window is None:
            return plain_steps(self._script, select)
        if self._analysis is not None:
            self._analysis.check_columns(output.node, _key_columns(select))
            time = window.time or self._analysis.event_time_of(output.node, window.span)
            window = replace(window, time=time)
        return window_steps(self._script, select, window)

    def _call(self, select: Select, call: OperatorCall, base: str, *, last_takes_base: bool) -> Output:
        """`SELECT * FROM operator(…)`: one node."""
        clauses = (select.condition, select.window, select.having, select.emit, *select.keys)
        if [item.text for item in select.items] != ["*"] or any(clause is not None for clause in clauses):
            hint = "write a CREATE VIEW for it and read the view"
            raise self._script.error("an operator call stands alone: SELECT * FROM operator(…)", call.span, hint=hint)
        node_id = base if last_takes_base else f"{base}_{call.operator.text.replace('-', '_')}"
        inputs = [(port, self._output(reference)) for port, reference in call.inputs]
        config: dict[str, Json] = {setting.name.text: setting.value for setting in call.settings}
        origin = Origin.of_options(call.operator.span, call.settings)
        return self._assembly.add(node_id, call.operator.text, config, inputs, origin)

    def _output(self, reference: Reference) -> Output:
        return self._streams.output(reference, is_checked=self._analysis is not None)


def _key_columns(select: Select) -> list[tuple[str, Span]]:
    """The columns that GROUP BY names, without the window's own."""
    qualifiers = qualifiers_of(select)
    return [pair for key in select.keys if not is_bound(key) for pair in columns_in(key.tree, qualifiers)]
