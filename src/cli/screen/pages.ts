import type { Agent } from "../../core/agent/agent.ts";
import type { KeptEvent } from "../../core/run/event.ts";
import type { State } from "../../core/run/state.ts";
import { extractToolArgsPreview } from "../../core/task/preview.ts";
import { defined } from "../../core/text/defined.ts";
import { isRecord } from "../../core/text/json.ts";
import { jsonText } from "../../core/text/json-text.ts";
import { sanitize } from "../../core/text/sanitize.ts";
import { timelineText } from "../../core/view/timeline.ts";
import { createLook, type Look } from "../../core/view/look.ts";
import { transcriptsOf } from "../../core/view/transcript.ts";
import { counted, terminalLine, took } from "../../core/view/words.ts";
import type { Crew } from "../../crew.ts";
import { transcriptText } from "../../sinks/transcript/text.ts";
import type { PageTab } from "../../tui/top/page.ts";

/** The task or run that is opened, and the tab of it that is shown. */
export type Opened = Readonly<{ run: string; path: string; state: State; tab: PageTab; look: Look }>;

const plain = createLook({ color: false, unicode: true });

/** The text of an opened task, including the agents that it started. */
export async function pageLines(crew: Crew, { run, path, state, tab, look }: Opened): Promise<string[]> {
  if (tab === "diff") return diffLines(crew, run, path);
  const { events: all, problems } = await crew.kept.records(run);
  const events =
    path === ""
      ? all
      : all.filter(
          (event) => event.path === path || event.path.startsWith(`${path}/`) || event.path.startsWith(`${path}.`),
        );
  const known = { look: { ...plain, ...defined({ durations: look.durations }) }, definitions: definitionsIn(all) };
  const text = parts[tab](events, state, known);
  return [...problems.map((problem) => `warning: ${problem}`), text === "" ? nothing[tab] : text]
    .join("\n")
    .split("\n")
    .map((line) => sanitize(line).replaceAll("\t", "    "));
}

const nothing: Readonly<Record<PageTab, string>> = {
  transcript: "Nothing has happened yet.",
  tools: "No tool was called.",
  diff: "No changes were recorded.",
  prompt: "The task has not begun.",
  timeline: "The task has not begun.",
};

/** Agent definitions by hash. The first event with a hash, of any task, carries the definition. */
type Definitions = ReadonlyMap<string, Agent>;

function definitionsIn(events: readonly KeptEvent[]): Definitions {
  const found = new Map<string, Agent>();
  for (const event of events)
    if (event.type === "agent.resolved" && event.definition) found.set(event.hash, event.definition);
  return found;
}

/** The fields of an agent, one per line, and its instructions as text. */
function definitionText({ instructions, ...fields }: Agent): string {
  const lines = Object.entries(fields).map(
    ([name, value]) => `${name}: ${typeof value === "string" ? value : jsonText(value)}`,
  );
  return `${lines.join("\n")}\ninstructions:\n${instructions.replace(/^/gm, "  ")}\n`;
}

type Known = Readonly<{ look: Look; definitions: Definitions }>;
const parts: Readonly<
  Record<Exclude<PageTab, "diff">, (events: readonly KeptEvent[], state: State, known: Known) => string>
> = {
  transcript: (events, _, { look }) => transcriptText(transcriptsOf(events), { look, full: true }),
  tools: (events, _, { look }) =>
    transcriptsOf(events)
      .flatMap(({ path, entries }) =>
        entries.flatMap((entry) => {
          if (entry.kind !== "call") return [];
          const preview = extractToolArgsPreview(entry.tool, isRecord(entry.input) ? entry.input : {});
          const time = entry.ms === undefined ? "" : ` ${took(entry.ms, look)}`;
          return [terminalLine(`${entry.state.padEnd(6)} ${path}: ${entry.tool} ${preview}${time}`)];
        }),
      )
      .join("\n"),
  prompt: (events, _, { definitions }) =>
    events
      .flatMap((event) => {
        if (event.type === "node.started" && event.kind === "task")
          return [`== ${event.path}: prompt (attempt ${event.attempt})\n${event.prompt ?? ""}\n`];
        if (event.type !== "agent.resolved") return [];
        const rights = event.rights === undefined ? "" : `rights: ${event.rights.join(", ")}\n`;
        const agent = event.definition ?? definitions.get(event.hash);
        const definition = agent ? definitionText(agent) : "";
        return [`== ${event.path}: agent ${event.agent}, model ${event.model}\n${rights}${definition}`];
      })
      .join("\n"),
  timeline: (events, state, { look }) => timelineText(events, state, Date.now(), look),
};

async function diffLines(crew: Crew, run: string, path: string): Promise<string[]> {
  const { files, unseen } = await crew.changes(run, path === "" ? {} : { task: path });
  const lines = files.flatMap(({ name, how, added, removed, diff, note, tasks }) => [
    `== ${terminalLine(name)} (${how}, +${added} -${removed}, by ${tasks.map(terminalLine).join(", ")})`,
    ...(diff ?? note ?? "").split("\n").map((line) => sanitize(line).replaceAll("\t", "    ")),
  ]);
  const missing = unseen.map(
    ({ reason, calls }) => `Changes of ${counted(calls, "command")} are not known: ${terminalLine(reason)}`,
  );
  return lines.length + missing.length === 0 ? [nothing.diff] : [...missing, ...lines];
}
