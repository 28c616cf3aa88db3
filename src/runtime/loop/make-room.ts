import {
  charsOf,
  commonLength,
  estimateTokens,
  firstPiece,
  splitForSummary,
  totalChars,
  transcriptOf,
} from "../../core/model/compact.ts";
import { DEFAULT_CONTEXT_WINDOW } from "../../core/model/context-window.ts";
import type { Message, ToolAnswer } from "../../core/model/model.ts";
import type { Fact } from "../../core/run/event.ts";
import type { PerformContext } from "../../core/task/engine.ts";
import type { Assignment } from "../../core/task/runner.ts";
import { keepEnds } from "../../core/text/cut.ts";
import { defined } from "../../core/text/defined.ts";
import { fill } from "../../core/text/template.ts";
import { prompts } from "../../embedded.ts";
import { summarised, withShorterResults } from "./rebuild-conversation.ts";
import { type AnsweredTurn, takeTurn } from "./turn.ts";

/** Share of the context window at which the conversation is compacted, and the share that it fills afterwards. */
const FULL = 0.8;
const LEFT = 0.5;
/** Share of the free context window that the tool results of one turn may fill. */
const TURN_SHARE = 0.5;
/** Share of the rest of a small context window that the last messages may fill. */
const SMALL_SHARE = 0.25;
/** Share of the context window that one request for a summary may fill. */
const PIECE_SHARE = 0.7;
/** Maximum length of a summary, in tokens and as a share of the context window. */
const MAX_SUMMARY_TOKENS = 4_000;
const SUMMARY_SHARE = 0.125;
/** The smallest context window that is assumed after a provider refused a request as too long. */
const MIN_WINDOW = 16_000;
/** The shortest part of a conversation that is summarised by itself. */
const MIN_PIECE_CHARS = 2_000;

type Compacted = Extract<Fact, { type: "context.compacted" }>;
type Cut = NonNullable<Compacted["cut"]>;

/** A conversation before a request. */
export type Filling = Readonly<{
  messages: readonly Message[];
  /** The size of the messages in characters. */
  chars: number;
  /** The tokens of the last request and its answer, as the provider counted them; 0: not known. */
  counted: number;
  /** True: a provider refused the conversation as too long. */
  isRefused: boolean;
  signal: AbortSignal;
}>;

/** Keeps the conversation of a task within the context window of its model. */
export type RoomMaker = (
  filling: Filling,
) => Promise<Readonly<{ messages: readonly Message[]; event: Compacted }> | undefined>;

/**
 * Creates the part of a conversation that keeps it within the context window. The tool results of a turn get half of
 * what is free; a conversation that fills the window is summarised, and then fills at most half of it. `fixedChars`: the
 * size of system prompt and tools.
 */
export function createRoomMaker(
  assignment: Assignment,
  context: PerformContext,
  { fixedChars, spend }: Readonly<{ fixedChars: number; spend(turn: AnsweredTurn): void }>,
): RoomMaker {
  const { model, limits, call } = assignment;
  let window = model.contextWindow ?? DEFAULT_CONTEXT_WINDOW;

  /** Shortens the longest results of the last turn, so that all of them have at most this number of characters. */
  const shortened = async (messages: readonly Message[], chars: number): Promise<Cut> => {
    const results = messages
      .slice(lastTurn(messages))
      .flatMap((message) => (message.role === "tool" ? message.results : []));
    const length = commonLength(
      results.map(({ text }) => text.length),
      chars,
    );
    if (length === undefined) return [];
    return Promise.all(results.filter(({ text }) => text.length > length).map((result) => shorter(result, length)));
  };

  const shorter = async ({ id, name, text }: ToolAnswer, chars: number): Promise<Cut[number]> => {
    const file = await assignment.keepLong?.(name, text);
    if (file !== undefined) assignment.access?.allowReading([file]);
    const where = file === undefined ? "ask for a smaller part if it is needed" : `the whole result is in ${file}`;
    return { call: id, text: within(text, chars, `; ${where}`), ...defined({ file }) };
  };

  /** Asks the model for one summary. `isTooLong`: the provider refused the request for its length. */
  const ask = async (text: string, signal: AbortSignal): Promise<{ said?: string; isTooLong?: true }> => {
    const turn = await takeTurn(
      model.model,
      {
        model: model.id,
        system: prompts.sumUp,
        messages: [{ role: "user", text }],
        tools: [],
        toolChoice: "auto",
      },
      { signal, maxIdleMs: limits.maxIdleMs, live: () => {}, emit: context.emit },
    );
    if ("fault" in turn && turn.fault.code === "MODEL_CONTEXT") return { isTooLong: true };
    if (!("calls" in turn) || turn.text.trim() === "") return {};
    spend(turn);
    return { said: turn.text };
  };

  /** The summary of a whole text, made from pieces that fit; if the model makes none, the beginning and end of the text. */
  const summaryOf = async (text: string, signal: AbortSignal, longest: number): Promise<string> => {
    let summary: string | undefined;
    let chars = charsOf(window * PIECE_SHARE) - prompts.sumUp.length - longest;
    for (let rest = text; rest !== ""; ) {
      const part = firstPiece(rest, Math.max(MIN_PIECE_CHARS, chars));
      const { said, isTooLong } = await ask(summary === undefined ? part : nextPart(summary, part), signal);
      if (isTooLong && part.length > MIN_PIECE_CHARS) {
        chars = Math.floor(part.length / 2);
        continue;
      }
      if (said === undefined) {
        const before = summary === undefined ? "" : `${summary}\n\n`;
        return within(before + within(rest, Math.max(MIN_PIECE_CHARS, longest - before.length)), longest);
      }
      summary = within(said, longest);
      rest = rest.slice(part.length);
    }
    return summary ?? "";
  };

  return async ({ messages: given, chars, counted, isRefused, signal }) => {
    const turnAt = lastTurn(given);
    const newChars = totalChars(given.slice(turnAt));
    const used = Math.max(counted, estimateTokens(fixedChars + chars - newChars));
    const before = used + estimateTokens(newChars);
    if (isRefused) window = Math.min(window, Math.max(MIN_WINDOW, before));
    const event = (messages: readonly Message[], more: Partial<Compacted>): Compacted => ({
      type: "context.compacted",
      before,
      after: estimateTokens(fixedChars + totalChars(messages)),
      ...more,
    });

    const cut = await shortened(given, charsOf((window - used) * TURN_SHARE));
    const messages = withShorterResults(given, cut);
    const filled = used + estimateTokens(totalChars(messages.slice(turnAt)));
    const unsummarised =
      cut.length > 0 || isRefused ? { messages, event: event(messages, cut.length > 0 ? { cut } : {}) } : undefined;
    if (!isRefused && filled < window * FULL) return unsummarised;

    const longest = Math.min(charsOf(MAX_SUMMARY_TOKENS), charsOf(window * SUMMARY_SHARE));
    const own = call.before === undefined ? "" : within(assignment.prompt, longest);
    const [task] = messages;
    const beginning = fixedChars + totalChars(task ? [task] : []);
    const half = charsOf(window * LEFT) - beginning - longest - own.length;
    // System prompt, tools and task may fill half of a small window by themselves.
    const room = half > 0 ? half : (charsOf(window) - beginning) * SMALL_SHARE;
    const parts = splitForSummary(messages, room);
    if (!task || !parts) return unsummarised;
    context.emit({ type: "note", text: "The conversation fills the context window and is being summarised." });
    const whole = await summaryOf(transcriptOf([task, ...parts.old]), signal, longest);
    if (signal.aborted) return unsummarised;
    const isKept =
      own === "" || [task, ...parts.recent].some((each) => each.role === "user" && each.text === assignment.prompt);
    const summary = isKept ? whole : `${whole}\n\nThe current task, word for word:\n${own}`;
    // The results of the last turn may be longer than what is left of the window.
    const more = await shortened(parts.recent, room - totalChars(parts.recent) + resultChars(parts.recent));
    const cuts = [...cut.filter(({ call: id }) => more.every((each) => each.call !== id)), ...more];
    const left = summarised(withShorterResults(messages, more), { summary, replaced: parts.old.length });
    const done = { summary, replaced: parts.old.length, ...(cuts.length > 0 && { cut: cuts }) };
    return { messages: left, event: event(left, done) };
  };
}

/** A text of at most `chars` characters: its beginning and its end, with a note between them. */
function within(text: string, chars: number, where = ""): string {
  if (text.length <= chars) return text;
  const note = (omitted: number): string => `\n[${omitted} characters were left out${where}]\n`;
  const { head, tail, omitted } = keepEnds(text, Math.max(0, chars - note(text.length).length));
  return `${head}${note(omitted)}${tail}`;
}

/** The index after the last message of the agent: the results of its calls, and messages that arrived since. */
const lastTurn = (messages: readonly Message[]): number =>
  messages.findLastIndex(({ role }) => role === "assistant") + 1;

/** The size of the results of the last turn. */
function resultChars(messages: readonly Message[]): number {
  return messages
    .slice(lastTurn(messages))
    .reduce(
      (sum, each) => sum + (each.role === "tool" ? each.results.reduce((all, { text }) => all + text.length, 0) : 0),
      0,
    );
}

const nextPart = (summary: string, part: string): string =>
  fill(
    prompts.sumUpNext,
    new Map([
      ["summary", summary],
      ["part", part],
    ]),
  );
