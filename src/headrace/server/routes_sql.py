"""SQL that asks or steers."""

from __future__ import annotations

from fastapi import APIRouter

from headrace.server.bodies import SqlBody
from headrace.server.models.statements import StatementList
from headrace.server.service import Service
from headrace.server.statements import Statements


def sql_router(service: Service) -> APIRouter:
    router = APIRouter(prefix="/api/sql", tags=["sql"])
    statements = Statements(service)

    @router.post("")
    def run_statements(body: SqlBody) -> StatementList:
        """SELECT from tables, CREATE TABLE, SHOW, DESCRIBE, EXPLAIN, START PIPELINE and their kin: a table for each."""
        return StatementList(results=statements.run(body.sql))

    return router
