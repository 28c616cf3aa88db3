import { badInput } from "./responses.ts";
import type { ShownRun } from "../core/view/run-rows.ts";
import type { Crew } from "../crew/crew-type.ts";
import { followRuns } from "../crew/follow-runs.ts";
import type { NeedRow, RunRow, RunsMessage } from "./client/wire.ts";
import { needRowsIn, runRowOf } from "./rows.ts";

/** The list of runs that every tab shows. */
export type RunList = Readonly<{
  snapshot(): RunsMessage;
  needs(): readonly NeedRow[];
  shown(id: string): ShownRun | undefined;
  /** Older runs that are not in the list: at most `count` runs after the run `before` that contain the text. */
  older(options: Readonly<{ before: string | undefined; text: string; count: number }>): Promise<OlderRuns>;
}>;

export type OlderRuns = Readonly<{ runs: readonly RunRow[]; more: boolean }>;

const EVERY_MS = 250;
/** The maximum number of runs that are read for one request. */
const MOST_READ = 400;

/** Follows all runs, and calls `changed` with the changed rows. */
export async function openRunList(
  crew: Crew,
  { signal, changed }: Readonly<{ signal: AbortSignal; changed(message: RunsMessage): void }>,
): Promise<RunList> {
  const known = new Map<string, string>();
  const cache = new Map<string, Readonly<{ at: number; row: RunRow; text: string }>>();
  let needs = "";
  let order = "";
  let timer: NodeJS.Timeout | undefined;
  let ready = false;
  const feed = await followRuns(crew, {
    signal,
    changed: () => {
      if (ready && !signal.aborted) timer ??= setTimeout(tell, EVERY_MS);
    },
  });
  const message = (full: boolean, runs: readonly RunRow[], gone: readonly string[]): RunsMessage => ({
    full,
    runs,
    gone,
    order: feed.runs().map(({ id }) => id),
    older: feed.older(),
    needs: needRowsIn(feed.runs()),
  });
  const tell = (): void => {
    timer = undefined;
    if (signal.aborted) return;
    const rows = feed.runs().map(runRowOf);
    const ids = new Set(rows.map(({ id }) => id));
    const gone = [...known.keys()].filter((id) => !ids.has(id));
    const fresh = rows.filter((row) => {
      const text = JSON.stringify(row);
      if (known.get(row.id) === text) return false;
      known.set(row.id, text);
      return true;
    });
    for (const id of gone) known.delete(id);
    const next = message(false, fresh, gone);
    const [asked, listed] = [JSON.stringify(next.needs), next.order.join()];
    if (fresh.length + gone.length === 0 && asked === needs && listed === order) return;
    [needs, order] = [asked, listed];
    changed(next);
  };
  ready = true;
  tell();
  signal.addEventListener("abort", () => clearTimeout(timer), { once: true });
  return {
    snapshot: () => message(true, feed.runs().map(runRowOf), []),
    needs: () => needRowsIn(feed.runs()),
    shown: (id) => feed.runs().find((run) => run.id === id),
    older: async ({ before, text, count }) => {
      const listed = new Set(feed.runs().map(({ id }) => id));
      const all = await crew.runs();
      if (before !== undefined && !all.includes(before) && !listed.has(before))
        throw badInput(
          `"before" names the run "${before.slice(0, 40)}", which does not exist.`,
          "Load the page again.",
        );
      const ids = all.filter((id) => !listed.has(id));
      const rest = before === undefined ? ids : ids.slice(ids.indexOf(before) + 1);
      const wanted = text.trim().toLowerCase();
      const runs: RunRow[] = [];
      let read = 0;
      for (const id of rest) {
        if (runs.length >= count || read >= MOST_READ) return { runs, more: true };
        read += 1;
        const found = cache.get(id) ?? (await look(crew, id));
        if (!found) continue;
        cache.set(id, found);
        if (wanted === "" || found.text.includes(wanted)) runs.push(found.row);
      }
      return { runs, more: false };
    },
  };
}

async function look(crew: Crew, id: string): Promise<{ at: number; row: RunRow; text: string } | undefined> {
  const run = await crew.kept.look(id).catch(() => undefined);
  if (!run) return undefined;
  const row = runRowOf(run);
  const prompts = Object.values(run.state.plan?.nodes ?? {}).flatMap((node) =>
    node.kind === "task" ? [node.task.prompt] : [],
  );
  const text = [id, row.name, row.project, ...row.agents, ...row.models, ...prompts].join("\n").toLowerCase();
  return { at: run.state.seq, row, text };
}
