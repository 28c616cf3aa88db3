import type { KeptEvent } from "../../core/run/event.ts";
import { sanitize } from "../../core/text/sanitize.ts";
import type { Look } from "../../core/view/look.ts";
import { transcriptsOf } from "../../core/view/transcript.ts";
import { counted, terminalLine } from "../../core/view/words.ts";
import type { Crew } from "../../crew/crew-type.ts";
import type { ChangeReport } from "../../crew/run-changes.ts";
import { type TranscriptItem, transcriptItems } from "../../tui/chat/transcript-items.ts";
import { codeLines } from "../../tui/markdown/markdown.ts";
import { browseTranscripts } from "./browse-transcripts.ts";

/** A run, or with a path one of its tasks. */
type Place = Readonly<{ run: string; path: string }>;

/** Shows the steps of a run or task and of its subagents, also while it works, until the person returns. */
export async function openSteps(crew: Crew, { run, path }: Place, look: Look): Promise<void> {
  const { events, problems } = await crew.kept.records(run);
  const over = new AbortController();
  const all = [...events];
  const follow = async (): Promise<void> => {
    for await (const event of crew.kept.events(run, over.signal, all.at(-1)?.seq)) all.push(event);
  };
  void follow().catch(() => {}); // a journal that cannot be followed, as of a deleted run, stays as it was read
  const warnings = problems.map((problem, index) => note(`warning ${index}`, `warning: ${problem}`));
  let known: readonly TranscriptItem[] = [];
  let read = -1;
  const current = (): readonly TranscriptItem[] => {
    if (read !== all.length) known = [...transcriptItems([transcriptsOf(eventsBelow(all, path))], look), ...warnings];
    read = all.length;
    return known;
  };
  try {
    await browseTranscripts(current, { look, highlight: undefined });
  } finally {
    over.abort();
  }
}

/** Shows the changes of a run or task until the person returns. */
export async function openChanges(crew: Crew, { run, path }: Place, look: Look): Promise<void> {
  const items = changeItems(await crew.changes(run, path === "" ? {} : { task: path }));
  await browseTranscripts(() => items, { look, highlight: undefined, open: true });
}

/** The changed files as rows that open, each with its diff. */
export function changeItems({ files, unseen }: Pick<ChangeReport, "files" | "unseen">): TranscriptItem[] {
  const missing = unseen.map(({ reason, calls }) => `Changes of ${counted(calls, "command")} are not known: ${reason}`);
  const none = files.length + missing.length === 0 ? ["No changes were recorded."] : [];
  return [
    ...[...none, ...missing].map((text, index) => note(`note ${index}`, text)),
    ...files.map(({ name, how, added, removed, diff, note: about, tasks }): TranscriptItem => {
      const by = tasks.length === 0 ? "" : `, by ${tasks.join(", ")}`;
      return {
        id: name,
        depth: 0,
        title: terminalLine(`${name} (${how}, +${added} -${removed}${by})`),
        body: (options) => codeLines(sanitize(diff ?? about ?? ""), "diff", options),
      };
    }),
  ];
}

const note = (id: string, text: string): TranscriptItem => ({
  id,
  depth: 0,
  title: terminalLine(text),
  body: () => [],
});

/** The events of a task, its rounds and its subagents. */
const eventsBelow = (events: readonly KeptEvent[], path: string): readonly KeptEvent[] =>
  path === ""
    ? events
    : events.filter(
        (event) => event.path.startsWith(path) && ["", "/", "."].includes(event.path.slice(path.length).slice(0, 1)),
      );
