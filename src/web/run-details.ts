import { fieldText } from "./agents.ts";
import { createTwoFilesPatch } from "diff";
import type { Agent } from "../core/agent/agent.ts";
import { formatCost } from "../core/outcome/usage.ts";
import type { KeptEvent } from "../core/run/event.ts";
import type { NodeView, State } from "../core/run/state.ts";
import { attemptPath } from "../core/plan/isolation.ts";
import { isRecord } from "../core/text/json.ts";
import { jsonText } from "../core/text/json-text.ts";
import { type Transcript, transcriptsOf } from "../core/view/transcript.ts";
import { describeOrigin } from "../core/vocabulary/provenance.ts";
import type { Crew } from "../crew/crew-type.ts";
import { findAgent } from "../runtime/discovery/discover.ts";
import type { CallDetails, DiffReport, LogLine, TaskDetails, TranscriptPart } from "./client/wire.ts";
import { logLineOf } from "./rows.ts";

/** The number of transcript entries per request. The end is loaded first, earlier entries while scrolling. */
const ENTRIES = 200;
/** The maximum length of a tool result; `subcrew show` prints all of it. */
const LONGEST = 60_000;

/** A part of the transcript of a task: its end, or the entries before a given entry. */
export function transcriptPart(
  events: readonly KeptEvent[],
  { run, path, before }: Readonly<{ run: string; path: string; before: number | undefined }>,
): TranscriptPart {
  const own = path === "" ? runTranscript(events) : transcriptsOf(events.filter((event) => event.path === path))[0];
  const all = own?.entries ?? [];
  const to = Math.min(before ?? all.length, all.length);
  const from = Math.max(0, to - ENTRIES);
  return {
    from,
    total: all.length,
    seq: events.at(-1)?.seq ?? 0,
    entries: all.slice(from, to).map((entry, index) => {
      if (entry.kind !== "call") return { at: from + index, entry };
      const result =
        entry.result.length > LONGEST
          ? `${entry.result.slice(0, LONGEST)}\n... (${entry.result.length - LONGEST} more characters: subcrew show ${run} --full)`
          : entry.result;
      const diff = entry.state === "open" ? diffOfInput(entry.input) : undefined;
      return { at: from + index, entry: { ...entry, result }, ...(diff !== undefined && { diff }) };
    }),
  };
}

/** The number of earlier events that are sent at a time. */
const LOG_LINES = 1_000;

/** The last recorded events before a given event, as sentences. */
export function logLines(events: readonly KeptEvent[], before: number): readonly LogLine[] {
  const to = events.findIndex(({ seq }) => seq >= before);
  return events
    .slice(0, to < 0 ? undefined : to)
    .slice(-LOG_LINES)
    .map(logLineOf);
}

/** The transcript of the run itself: its events without the events of its tasks. */
function runTranscript(events: readonly KeptEvent[]): Transcript | undefined {
  return transcriptsOf(events.filter(({ path }) => path === ""))[0];
}

/** The prompt, agent, turns and warnings of a task; for the run, the data of all its tasks. */
export async function taskDetails(crew: Crew, events: readonly KeptEvent[], path: string): Promise<TaskDetails> {
  const definitions = new Map<string, Agent>();
  for (const event of events)
    if (event.type === "agent.resolved" && event.definition) definitions.set(event.hash, event.definition);
  const own = events.filter((event) => path === "" || event.path === path);
  const why = own.find((event) => event.type === "turn.started" && event.why !== undefined);
  const resolved = distinctBy(
    own.filter((event) => event.type === "agent.resolved"),
    ({ agent, hash, model }) => `${agent} ${hash} ${model}`,
  );
  const discovery = resolved.length === 0 ? undefined : await crew.agents().catch(() => undefined);
  const models = new Map<string, string>();
  return {
    path,
    prompts: own.flatMap((event) =>
      event.type === "node.started" && event.kind === "task"
        ? [{ attempt: event.attempt, text: event.prompt ?? "", model: event.model ?? "" }]
        : [],
    ),
    definitions: await Promise.all(
      resolved.map(async ({ agent, hash, model, rights }) => {
        const definition = definitions.get(hash);
        const found = discovery && findAgent(discovery, agent);
        const origins = new Map(
          found
            ? (await crew.explain(found)).fields.map(({ field, value, origin }) => [
                field,
                { text: jsonText(value), from: describeOrigin(origin) },
              ])
            : [],
        );
        const { instructions = "", source, ...fields } = definition ?? ({} as Partial<Agent>);
        const shown = Object.entries(fields).filter(([, value]) => value !== undefined);
        return {
          agent,
          model,
          why: why?.type === "turn.started" ? (why.why ?? "") : "",
          hash,
          rights: rights ?? [],
          instructions,
          fields: [
            ...shown.map(([field, value]) => {
              const now = origins.get(field);
              const from =
                now === undefined
                  ? "recorded with the run"
                  : now.text === jsonText(value)
                    ? now.from
                    : `recorded with the run; ${now.from} has changed since`;
              return { field, value: fieldText(value), from };
            }),
            ...(source
              ? [{ field: "source", value: Object.values(source).filter(Boolean).map(fieldText).join(", "), from: "" }]
              : []),
          ],
        };
      }),
    ),
    turns: own.flatMap((event) => {
      if (event.type === "turn.started") models.set(event.path, event.model);
      if (event.type !== "turn.ended") return [];
      const { turn, usage, cost, at } = event;
      const price = formatCost(cost);
      const model = event.model ?? models.get(event.path) ?? "";
      const input = usage.input + usage.cacheRead + usage.cacheWrite;
      return [{ turn, model, input, output: usage.output, cached: usage.cacheRead, price, usd: cost.usd, at }];
    }),
    warnings: own.flatMap((event) => {
      if (event.type === "warning" || event.type === "limit.reached") return [event.text];
      if (event.type === "rights.reduced")
        return [`${event.agent} has fewer tools than its file lists (${event.lost.join(", ")}): ${event.reason}`];
      return [];
    }),
  };
}

function distinctBy<T>(items: readonly T[], key: (item: T) => string): T[] {
  return [...new Map(items.map((item) => [key(item), item])).values()];
}

/** The changes of a run or a task, and the patches that can be applied. */
export async function diffReport(crew: Crew, run: string, path: string): Promise<DiffReport> {
  const [{ files, unseen }, { state }] = await Promise.all([
    crew.changes(run, path === "" ? {} : { task: path }),
    crew.kept.look(run),
  ]);
  return {
    files: files.map(({ name, how, added, removed, tasks, diff, note, changedSince }) => ({
      name,
      how,
      added,
      removed,
      tasks,
      diff: diff?.slice(0, 400_000),
      note,
      changedSince,
    })),
    unseen: unseen.map(
      ({ reason, calls }) => `Changes by ${calls} command${calls === 1 ? "" : "s"} are not recorded: ${reason}`,
    ),
    kept: await keptPatches(crew, state, path),
  };
}

async function keptPatches(crew: Crew, state: State, path: string): Promise<DiffReport["kept"]> {
  const open = [...state.nodes.values()].filter(
    (node) => node.outcome?.changes && !node.outcome.changes.applied && (path === "" || node.path === path),
  );
  return Promise.all(
    open.map(async (node) => ({
      path: node.path,
      files: node.outcome!.changes!.files,
      patch: (await patchOf(crew, state.run, node)).slice(0, 400_000),
    })),
  );
}

/** The patch of a task, read by the hash in its outcome; empty where the store does not have it. */
async function patchOf(crew: Crew, run: string, { path, attempt, outcome }: NodeView): Promise<string> {
  const { hash } = outcome!.changes!.patch;
  const found = crew.kept.output(run, attemptPath({ path, attempt }), { kind: "patch", hash });
  return (await found.catch(() => undefined)) ?? "";
}

/** The tool call that a question is about, with the diff of its change. */
export function callDetails(events: readonly KeptEvent[], call: string): CallDetails | undefined {
  for (const event of events.toReversed()) {
    const found = event.type === "turn.ended" ? event.calls.find(({ id }) => id === call) : undefined;
    if (found) return { tool: found.name, input: jsonText(found.input, 2), diff: diffOfInput(found.input) };
  }
  return undefined;
}

/** The change of an edit or write call, as a diff of the texts in its arguments. */
function diffOfInput(input: unknown): string | undefined {
  if (!isRecord(input)) return undefined;
  const text = (...keys: readonly string[]): string | undefined => {
    const key = keys.find((each) => typeof input[each] === "string");
    return key === undefined ? undefined : (input[key] as string);
  };
  const file = text("path", "file_path", "file") ?? "";
  const [before, after] = [text("old_string", "old_text", "oldText"), text("new_string", "new_text", "newText")];
  if (before !== undefined && after !== undefined) return patch(file, before, after);
  const content = text("content", "contents", "file_text");
  return file !== "" && content !== undefined ? patch(file, "", content) : undefined;
}

/**
 * A diff of two texts that are parts of a file. A missing line break at their ends is added, so that the diff does not
 * report it.
 */
function patch(file: string, before: string, after: string): string {
  const [old, now] = [before, after].map((text) => text.slice(0, LONGEST).replace(/([^\n])$/, "$1\n"));
  return createTwoFilesPatch(file, file, old!, now!, "", "", { context: 3 }).replace(/^Index: .*\n=+\n/, "");
}
