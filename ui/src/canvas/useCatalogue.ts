import { useQuery } from "@tanstack/react-query";
import { readOperators } from "@/api/pipelines";
import type { Operator } from "@/api/types";
import type { Catalogue } from "@/document/wiring";

const NONE: readonly Operator[] = [];
const EMPTY: Catalogue = new Map();

const indexed = (answer: { operators: Operator[] }) => ({
  operators: answer.operators,
  catalogue: new Map(answer.operators.map((operator) => [operator.name, operator])) as Catalogue,
});

/** The operators of this server; they do not change while it runs. */
export function useCatalogue() {
  const query = useQuery({
    queryKey: ["operators"],
    queryFn: readOperators,
    staleTime: Number.POSITIVE_INFINITY,
    select: indexed,
  });
  return { ...query, operators: query.data?.operators ?? NONE, catalogue: query.data?.catalogue ?? EMPTY };
}
