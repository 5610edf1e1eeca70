"""SQL that asks or steers."""

from __future__ import annotations

from fastapi import APIRouter

from headrace.server.bodies import LookBody, SqlBody
from headrace.server.looks import LookResponse
from headrace.server.models.statements import LookLine, StatementList
from headrace.server.raw_paths import RawPathRoute
from headrace.server.service import Service
from headrace.server.statements import Statements


def sql_router(service: Service) -> APIRouter:
    router = APIRouter(route_class=RawPathRoute, prefix="/api/sql", tags=["sql"])
    statements = Statements(service)

    @router.post("")
    def run_statements(body: SqlBody) -> StatementList:
        """SELECT from tables, CREATE TABLE, SHOW, DESCRIBE, EXPLAIN, START PIPELINE and their kin: a table for each."""
        return StatementList(results=statements.run(body.sql))

    @router.post(
        "/look",
        status_code=200,
        response_class=LookResponse,
        responses={200: {"model": LookLine, "description": "A line of JSON for every micro-batch; see the summary."}},
    )
    async def look(body: LookBody) -> LookResponse:
        """The rows of a SELECT over streams while they come, until the reader leaves or the SELECT's LIMIT is there.

        The first line has `columns` and `keys`, all others have `rows`, or `error` at the end.
        """
        return LookResponse(await service.looks.open(body))

    return router
