import type { Crew } from "../crew/crew-type.ts";
import type { CostReport, SpentRow } from "./client/wire.ts";

const DAY_MS = 86_400_000;

export type CostReader = (days: number, now: number) => Promise<CostReport>;

/** Reads the cost of each day, by agent, model and project. Ended runs are read only once. */
export function createCostReader(crew: Crew): CostReader {
  const cache = new Map<string, Readonly<{ seq: number; rows: readonly SpentRow[] }>>();
  const read = async (id: string, since: string): Promise<readonly SpentRow[]> => {
    const known = cache.get(id);
    if (known && (await crew.kept.owner(id)) === undefined && known.seq === -1) return known.rows;
    const { events } = await crew.kept.records(id).catch(() => ({ events: [] }));
    const agents = new Map<string, string>();
    const models = new Map<string, string>();
    const sums = new Map<string, SpentRow>();
    let project = "";
    for (const event of events) {
      if (event.type === "run.started") project = event.cwd;
      if (event.type === "node.started" && event.agent !== undefined) agents.set(event.path, event.agent);
      if (event.type === "agent.resolved") agents.set(event.path, event.agent);
      if (event.type === "turn.started") models.set(event.path, event.model);
      if (event.type !== "turn.ended" && event.type !== "turn.restarted") continue;
      const day = dayOf(event.at);
      const agent = agents.get(event.path) ?? "";
      const model = (event.type === "turn.ended" ? event.model : undefined) ?? models.get(event.path) ?? "";
      const key = [day, agent, model].join("\n");
      const sum = sums.get(key) ?? { day, agent, model, project, usd: 0, tokens: 0, turns: 0, unpriced: 0 };
      const { usage, cost } = event;
      sums.set(key, {
        ...sum,
        usd: sum.usd + cost.usd + (cost.estimated ?? 0),
        tokens:
          sum.tokens + (usage.input ?? 0) + (usage.output ?? 0) + (usage.cacheRead ?? 0) + (usage.cacheWrite ?? 0),
        turns: sum.turns + (event.type === "turn.ended" ? 1 : 0),
        unpriced: sum.unpriced + cost.unpriced,
      });
    }
    const rows = [...sums.values()];
    cache.set(id, { seq: events.at(-1)?.type === "run.ended" ? -1 : 0, rows });
    return rows.filter(({ day }) => day >= since);
  };
  return async (days, now) => {
    const list = Array.from({ length: days }, (_, back) => dayOf(now - (days - 1 - back) * DAY_MS));
    const since = list[0]!;
    const rows: SpentRow[] = [];
    let runs = 0;
    for (const id of await crew.runs()) {
      const own = (await read(id, since)).filter(({ day }) => day >= since);
      if (own.length > 0) runs += 1;
      rows.push(...own);
    }
    return { days: [...new Set(list)], rows: summed(rows), runs };
  };
}

/** The date in the local time zone, as `2026-03-01`. */
function dayOf(at: number): string {
  const date = new Date(at);
  return [date.getFullYear(), date.getMonth() + 1, date.getDate()]
    .map((part) => String(part).padStart(2, "0"))
    .join("-");
}

function summed(rows: readonly SpentRow[]): SpentRow[] {
  const sums = new Map<string, SpentRow>();
  for (const row of rows) {
    const key = [row.day, row.agent, row.model, row.project].join("\n");
    const sum = sums.get(key);
    sums.set(
      key,
      sum
        ? {
            ...sum,
            usd: sum.usd + row.usd,
            tokens: sum.tokens + row.tokens,
            turns: sum.turns + row.turns,
            unpriced: sum.unpriced + row.unpriced,
          }
        : row,
    );
  }
  return [...sums.values()];
}
