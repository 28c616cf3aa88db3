import { formatDuration } from "../../core/text/duration.ts";
import { jsonText } from "../../core/text/json-text.ts";
import type { EngineOverview } from "../../engines/overview.ts";
import { sanitize } from "../../core/text/sanitize.ts";
import type { Flags } from "../base/flags.ts";
import { table } from "../base/table.ts";
import { terminal } from "../base/terminal.ts";
import { limitLine } from "./limit.ts";
import { withEngine } from "./named-engine.ts";

/** The command `subcrew engine status`. */
export async function showEngine(flags: Flags): Promise<number> {
  return withEngine(flags, async (engine) => {
    const overview = await engine.overview();
    if (flags.json) process.stdout.write(`${jsonText(overview, 2)}\n`);
    else process.stdout.write(`${textOf(overview, flags)}\n`);
    return 0;
  });
}

function textOf(
  { shown, software, server, schema, notice, processes, runs, limits = {}, refusedKeys = 0, calls }: EngineOverview,
  flags: Flags,
): string {
  if (schema.applied === 0)
    return [
      `engine   ${shown} (${software} ${server})`,
      "tables   no tables yet: run `subcrew engine migrate --engine URL`",
    ].join("\n");
  const state =
    schema.applied === schema.known
      ? `step ${schema.applied}, up to date`
      : schema.applied > schema.known
        ? `step ${schema.applied}, newer than this version (${schema.known})`
        : `step ${schema.applied} of ${schema.known}: run \`subcrew engine migrate\``;
  const lines = [`engine   ${shown} (${software} ${server})`, `tables   ${state}`];
  if (notice !== undefined) lines.push(`notices  ${notice}`);
  if (runs) lines.push(`runs     ${runs.working} working, ${runs.orphaned} orphaned, ${runs.kept} stored`);
  for (const [name, given] of Object.entries(limits)) lines.push(`limit    ${limitLine(name, given)}`);
  if (refusedKeys > 0)
    lines.push(
      `closed   ${refusedKeys === 1 ? "1 key is" : `${refusedKeys} keys are`} refused by a provider; one request at a time tries again`,
    );
  if (calls)
    lines.push(
      `tasks    ${calls.taken} working, ${calls.placed} in queues, ${calls.parked.length} parked`,
      ...calls.parked.map(({ task, why }) => `  ${sanitize(task)}: ${sanitize(why)}`),
    );
  if (processes.length === 0)
    return [...lines, "", "No process is connected. Start a worker: subcrew worker --engine URL"].join("\n");
  const rows = processes.map(({ id, role, slots, version, beatAgoMs, draining, alive }) => ({
    process: id,
    role,
    slots: slots === 0 ? "" : String(slots),
    version,
    state: alive ? (draining ? "draining" : "alive") : `silent for ${formatDuration(beatAgoMs)}`,
  }));
  return [...lines, "", table([HEADINGS, ...rows], terminal(flags).look).trimEnd()].join("\n");
}

const HEADINGS = { process: "PROCESS", role: "ROLE", slots: "SLOTS", version: "VERSION", state: "STATE" };
