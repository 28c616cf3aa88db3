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

/** A conversation that was shortened, and the event that records it. */
export type MadeRoom = Readonly<{ messages: readonly Message[]; event: Compacted }>;

/**
 * Keeps the conversation of a task within the context window of its model. The tool results of a turn get half of what
 * is free; a conversation that fills the window is summarised, and then fills at most half of it.
 */
export class RoomMaker {
  readonly #assignment: Assignment;
  readonly #context: PerformContext;
  /** The size of system prompt and tools. */
  readonly #fixedChars: number;
  readonly #spend: (turn: AnsweredTurn) => void;
  #window: number;

  constructor(
    assignment: Assignment,
    context: PerformContext,
    { fixedChars, spend }: Readonly<{ fixedChars: number; spend(turn: AnsweredTurn): void }>,
  ) {
    this.#assignment = assignment;
    this.#context = context;
    this.#fixedChars = fixedChars;
    this.#spend = spend;
    this.#window = assignment.model.contextWindow ?? DEFAULT_CONTEXT_WINDOW;
  }

  /** Shortens a conversation that is too long; `undefined`: it fits. */
  async make({ messages: given, chars, counted, isRefused, signal }: Filling): Promise<MadeRoom | undefined> {
    const turnAt = lastTurn(given);
    const newChars = totalChars(given.slice(turnAt));
    const used = Math.max(counted, estimateTokens(this.#fixedChars + chars - newChars));
    const before = used + estimateTokens(newChars);
    if (isRefused) this.#window = Math.min(this.#window, Math.max(MIN_WINDOW, before));
    const cut = await this.#shortened(given, charsOf((this.#window - used) * TURN_SHARE));
    const messages = withShorterResults(given, cut);
    const filled = used + estimateTokens(totalChars(messages.slice(turnAt)));
    const isFull = isRefused || filled >= this.#window * FULL;
    const summary = isFull ? await this.#summarise(messages, cut, signal) : undefined;
    if (summary) return this.#made(summary.messages, { before, ...summary.done });
    return cut.length > 0 || isRefused ? this.#made(messages, { before, ...(cut.length > 0 && { cut }) }) : undefined;
  }

  #made(messages: readonly Message[], more: Omit<Compacted, "type" | "after">): MadeRoom {
    const after = estimateTokens(this.#fixedChars + totalChars(messages));
    const { before, ...rest } = more;
    return { messages, event: { type: "context.compacted", before, after, ...rest } };
  }

  /** Replaces the older messages by a summary; `undefined`: there is nothing to replace, or the task was stopped. */
  async #summarise(
    messages: readonly Message[],
    cut: Cut,
    signal: AbortSignal,
  ): Promise<Readonly<{ messages: readonly Message[]; done: Partial<Compacted> }> | undefined> {
    const { call, prompt } = this.#assignment;
    const longest = Math.min(charsOf(MAX_SUMMARY_TOKENS), charsOf(this.#window * SUMMARY_SHARE));
    const own = call.before === undefined ? "" : within(prompt, longest);
    const [task] = messages;
    const room = this.#roomBeside(task, longest + own.length);
    const parts = splitForSummary(messages, room);
    if (!task || !parts) return undefined;
    this.#context.emit({ type: "note", text: "The conversation fills the context window and is being summarised." });
    const whole = await this.#summaryOf(transcriptOf([task, ...parts.old]), signal, longest);
    if (signal.aborted) return undefined;
    const isKept = own === "" || [task, ...parts.recent].some((each) => each.role === "user" && each.text === prompt);
    const summary = isKept ? whole : `${whole}\n\nThe current task, word for word:\n${own}`;
    // The results of the last turn may be longer than what is left of the window.
    const more = await this.#shortened(parts.recent, room - totalChars(parts.recent) + resultChars(parts.recent));
    const cuts = [...cut.filter(({ call: id }) => more.every((each) => each.call !== id)), ...more];
    const done = { summary, replaced: parts.old.length, ...(cuts.length > 0 && { cut: cuts }) };
    return { messages: summarised(withShorterResults(messages, more), done), done };
  }

  /** System prompt, tools and task may fill half of a small window by themselves. */
  #roomBeside(task: Message | undefined, others: number): number {
    const beginning = this.#fixedChars + totalChars(task ? [task] : []);
    const half = charsOf(this.#window * LEFT) - beginning - others;
    return half > 0 ? half : (charsOf(this.#window) - beginning) * SMALL_SHARE;
  }

  /** Shortens the longest results of the last turn, so that all of them have at most this number of characters. */
  async #shortened(messages: readonly Message[], chars: number): Promise<Cut> {
    const results = messages
      .slice(lastTurn(messages))
      .flatMap((message) => (message.role === "tool" ? message.results : []));
    const lengths = results.map(({ text }) => text.length);
    const length = commonLength(lengths, chars);
    if (length === undefined) return [];
    return Promise.all(
      results.filter(({ text }) => text.length > length).map((result) => this.#shorter(result, length)),
    );
  }

  async #shorter({ id, name, text }: ToolAnswer, chars: number): Promise<Cut[number]> {
    const file = await this.#assignment.keepLong?.(name, text);
    if (file !== undefined) this.#assignment.access?.allowReading([file]);
    const where = file === undefined ? "ask for a smaller part if it is needed" : `the whole result is in ${file}`;
    return { call: id, text: within(text, chars, `; ${where}`), ...defined({ file }) };
  }

  /** The summary of a whole text, made from pieces that fit; if the model makes none, the beginning and end of the text. */
  async #summaryOf(text: string, signal: AbortSignal, longest: number): Promise<string> {
    let summary: string | undefined;
    let chars = charsOf(this.#window * PIECE_SHARE) - prompts.sumUp.length - longest;
    for (let rest = text; rest !== ""; ) {
      const part = firstPiece(rest, Math.max(MIN_PIECE_CHARS, chars));
      const { said, isTooLong } = await this.#ask(summary === undefined ? part : nextPart(summary, part), signal);
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
  }

  /** Asks the model for one summary. `isTooLong`: the provider refused the request for its length. */
  async #ask(text: string, signal: AbortSignal): Promise<{ said?: string; isTooLong?: true }> {
    const { model, limits } = this.#assignment;
    const { emit } = this.#context;
    const messages = [{ role: "user" as const, text }];
    const request = { model: model.id, system: prompts.sumUp, messages, tools: [], toolChoice: "auto" as const };
    const turn = await takeTurn(model.model, request, { signal, maxIdleMs: limits.maxIdleMs, live: () => {}, emit });
    if ("fault" in turn && turn.fault.code === "MODEL_CONTEXT") return { isTooLong: true };
    if (!("calls" in turn) || turn.text.trim() === "") return {};
    this.#spend(turn);
    return { said: turn.text };
  }
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
