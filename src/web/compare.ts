import { explain } from "../core/outcome/outcome.ts";
import { formatTokens, type Usage } from "../core/outcome/usage.ts";
import { createLook } from "../core/view/look.ts";
import { cellOf } from "../core/view/row-cells.ts";
import { runRow, treeRows } from "../core/view/run-rows.ts";
import { toolsUsed } from "../core/view/words.ts";
import type { Crew } from "../crew/crew-type.ts";
import type { ComparedSide } from "./client/wire.ts";
import { badInput } from "./responses.ts";
import { diffReport } from "./run-details.ts";
import { addCount } from "../core/text/json.ts";

const plain = createLook({ color: false, unicode: true });

/** A run, or one task of it, for a comparison: `run_4k2x` or `run_4k2x/build`. */
export async function comparedSide(crew: Crew, word: string): Promise<ComparedSide> {
  const [name = "", ...rest] = word.split("/");
  const run = await crew.kept.look(await crew.findRun(name));
  const path = rest.join("/");
  const { state, life, id } = run;
  const row = path === "" ? runRow(run) : treeRows(run).find((each) => each.path === path);
  if (!row) throw badInput(`"${id}" has no task "${path}".`, "Choose a task from the list.");
  const { node } = row;
  const outcome = path === "" ? state.outcome : node?.outcome;
  const { usage, cost } = path === "" ? state : (node ?? { usage: undefined, cost: { usd: 0 } });
  const { startedAt = 0, endedAt } = path === "" ? state : (node ?? {});
  const nodes = [...state.nodes.values()];
  const mine = path === "" ? nodes : nodes.filter((each) => each.path === path);
  const tools: Record<string, number> = {};
  for (const each of mine) for (const [tool, count] of Object.entries(each.tools)) addCount(tools, tool, count);
  const names = (list: readonly (string | undefined)[]): string => [...new Set(list.filter(Boolean))].join(", ");
  const kept = outcome?.status === "ok" ? await crew.kept.output(id, path) : undefined;
  return {
    run: id,
    path,
    name: row.name,
    life: path === "" ? life : (statusWord(node?.status) ?? life),
    agent: names(mine.map(({ agent }) => agent)),
    model: names(mine.map(({ model }) => model)),
    price: cellOf(row, "price", 0) || "free",
    usd: cost.usd,
    tokens: usage ? formatTokens(allTokens(usage)) : "0",
    turns: usage?.turns ?? 0,
    ms: startedAt === 0 ? 0 : (endedAt ?? Date.now()) - startedAt,
    tools: toolsUsed(tools, plain),
    prompt: await promptOf(crew, id, path),
    output: (kept ?? (outcome ? explain(outcome) : (node?.said ?? ""))).slice(0, 200_000),
    files: (await diffReport(crew, id, path)).files,
  };
}

const allTokens = ({ input, output, cacheRead, cacheWrite }: Usage): number => input + output + cacheRead + cacheWrite;

const statusWord = (status: string | undefined): ComparedSide["life"] | undefined =>
  status === "ok" || status === "failed" || status === "cancelled" || status === "running" ? status : undefined;

async function promptOf(crew: Crew, run: string, path: string): Promise<string> {
  const { events } = await crew.kept.records(run);
  const first = events.find(
    (event) => event.type === "node.started" && event.kind === "task" && (path === "" || event.path === path),
  );
  return first?.type === "node.started" ? (first.prompt ?? "") : "";
}
