"""SQL expressions that Arrow's columns are computed with, exactly as Spark computes them.

`plan` reads an expression and gives plain data of known type, or None where it is not sure to be exact: then Spark
runs it. `values` computes that data for a batch, in a task. A function of SQL is one line in `functions`, and one in
`kernels`.
"""

from headrace.operators.columnar.forms import Form, columns_of, is_cheap, may_raise, substituted
from headrace.operators.columnar.plan import Planner, Scope, planned, scope_of

__all__ = ["Form", "Planner", "Scope", "columns_of", "is_cheap", "may_raise", "planned", "scope_of", "substituted"]
