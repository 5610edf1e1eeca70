import { useQuery } from "@tanstack/react-query";
import { readOperators } from "@/api/pipelines";
import type { Operator } from "@/api/types";
import type { Catalogue } from "@/document/wiring";

const NONE: readonly Operator[] = [];
const NO_PROBLEMS: readonly string[] = [];
const EMPTY: Catalogue = new Map();

/** Plugin files are often edited in another window. */
const FRESH_MS = 5_000;

const indexed = (answer: { operators: Operator[]; problems: string[] }) => ({
  operators: answer.operators,
  problems: answer.problems,
  catalogue: new Map(answer.operators.map((operator) => [operator.name, operator])) as Catalogue,
});

/** The operators of this server, and plugin files that cannot be loaded; they change when plugin files do. */
export function useCatalogue() {
  const query = useQuery({
    queryKey: ["operators"],
    queryFn: readOperators,
    staleTime: FRESH_MS,
    refetchOnWindowFocus: true,
    select: indexed,
  });
  const { operators = NONE, problems = NO_PROBLEMS, catalogue = EMPTY } = query.data ?? {};
  return { ...query, operators, problems, catalogue };
}
