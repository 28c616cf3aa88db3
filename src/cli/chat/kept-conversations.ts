import type { KeptEvent } from "../../core/run/event.ts";
import { CrewError, isCrewError } from "../../core/schema/error.ts";
import { fit } from "../../core/view/fit.ts";
import { conversationsOf, type KeptConversation, searchConversations } from "../../core/view/conversations.ts";
import type { Look } from "../../core/view/look.ts";
import { transcriptsOf } from "../../core/view/transcript.ts";
import { counted, terminalLine, took } from "../../core/view/words.ts";
import type { Crew } from "../../crew/crew-type.ts";
import { markdownLines } from "../../tui/markdown/markdown.ts";

const MOST_LISTED = 15;

/** The conversations of this project that contain every word; without words, all of them. */
export async function keptConversations(crew: Crew, words: string): Promise<readonly KeptConversation[]> {
  const runs = await crew.kept.list({ all: true });
  const states = runs.map(({ state }) => state).filter(({ cwd }) => cwd === crew.cwd);
  return searchConversations(conversationsOf(states), words);
}

/** One line per conversation: the run to resume, age, size, and its first words. */
export function conversationList(
  all: readonly KeptConversation[],
  columns: number,
  look: Readonly<{ durations?: Look["durations"] | undefined }>,
): string {
  if (all.length === 0) return "This project has no such conversation.";
  const lines = all.slice(0, MOST_LISTED).map(({ last, title, messages, at }) => {
    const about = `${last}  ${took(Date.now() - at, look, "spaced").padStart(7)} ago  ${counted(messages, "message").padStart(11)}`;
    return fit(`${about}  ${terminalLine(title)}`, columns, "...");
  });
  const left = all.length - lines.length;
  return [...lines, ...(left > 0 ? [`and ${left} more; add words to search for`] : [])].join("\n");
}

/** The maximum number of messages of a conversation that are read again. */
const MOST_MESSAGES = 1_000;

/** The events of a conversation up to this run, grouped by answer. */
export async function eventsOfConversation(crew: Crew, last: string): Promise<readonly (readonly KeptEvent[])[]> {
  const answers: (readonly KeptEvent[])[] = [];
  const seen = new Set<string>();
  for (let run: string | undefined = last; run !== undefined && !seen.has(run) && seen.size < MOST_MESSAGES; ) {
    seen.add(run);
    const { events }: Readonly<{ events: readonly KeptEvent[] }> = await crew.kept
      .records(run)
      .catch(() => ({ events: [] }));
    if (events.length > 0) answers.unshift(events);
    const started = events.find((event) => event.type === "node.started" && event.continues !== undefined);
    run = started?.type === "node.started" ? started.continues?.split("/", 1)[0] : undefined;
  }
  return answers;
}

/** The last message of a conversation and its answer. */
export function lastExchange(events: readonly KeptEvent[], columns: number, look: Look): string[] {
  const main = transcriptsOf(events).find(({ path }) => path !== "" && !path.includes("/"));
  const asked = main?.entries.find(({ kind }) => kind === "prompt");
  const said = main?.entries.findLast((entry) => entry.kind === "turn" && entry.text.trim() !== "");
  return [
    ...(asked?.kind === "prompt"
      ? ["", look.colors.bold(`> ${fit(terminalLine(asked.text), columns - 2, look.signs.more)}`)]
      : []),
    ...(said?.kind === "turn" ? markdownLines(said.text, { look, columns }) : []),
  ];
}

/**
 * The run that the words mean: by id or name, or the only conversation that contains them. When several conversations
 * match, all of them are returned.
 */
export async function conversationFor(
  crew: Crew,
  words: string,
): Promise<Readonly<{ run: string }> | Readonly<{ several: readonly KeptConversation[] }>> {
  try {
    if (words !== "") return { run: await crew.findRun(words) };
  } catch (error) {
    if (!isCrewError(error)) throw error;
    const found = await keptConversations(crew, words);
    if (found.length === 1) return { run: found[0]!.last };
    if (found.length > 1) return { several: found };
    throw new CrewError(
      "UNKNOWN_RUN",
      `"${words}" matches no run and no conversation of this project.`,
      "`/resume` alone lists the conversations; outside of a chat, `subcrew chat --resume`.",
    );
  }
  return { several: await keptConversations(crew, "") };
}
