import type { ToolCall } from "../../core/model/model.ts";
import type { Answer } from "../../core/plan/gate.ts";
import { proposedRule } from "../../core/policy/propose-rule.ts";
import { type AnswerKind, answerKind } from "../../core/plan/answer-kind.ts";
import type { KeptEvent } from "../../core/run/event.ts";
import type { State } from "../../core/run/state.ts";
import { parseRules } from "../../core/rules/rule.ts";
import { isCrewError, messageOf } from "../../core/schema/error.ts";
import { defined } from "../../core/text/defined.ts";
import { isRecord } from "../../core/text/json.ts";
import { reveal, spellInvisible } from "../../core/text/sanitize.ts";
import type { Look } from "../../core/view/look.ts";
import { fit, widthOf } from "../../core/view/fit.ts";
import { terminalLine } from "../../core/view/words.ts";
import { extractToolArgsPreview } from "../../core/task/preview.ts";
import { emptyPrompt, type Prompt, promptKey, promptWith } from "../../tui/chat/prompt.ts";
import { diffLines } from "../../tui/chat/tool-lines.ts";
import type { Key } from "../../tui/input/keys.ts";
import { clustersOf } from "../../tui/wrap.ts";
import { askedDiff } from "./asked-diff.ts";

type Question = Readonly<{
  path: string;
  text: string;
  call: string | undefined;
  kind: AnswerKind;
  rule: string | undefined;
  network: boolean;
  about: ToolCall | undefined;
}>;
/** The current input: an answer to the question, or a permission rule. */
type Step = "choose" | "rule";

export type QuestionOptions = Readonly<{
  look: Look;
  state: State;
  /** Sends an answer to the run; the returned text is printed. */
  answer(
    asked: Readonly<{ path: string; question: string; call?: string }>,
    answer: Answer,
  ): Promise<string | undefined>;
  print(lines: string[]): void;
  changed(): void;
  /** Receives a typed text that is not an answer to the question. */
  other(text: string): void;
  /** False for a question that another part of the program asks. */
  takes?(event: GateOpened): boolean;
}>;
type GateOpened = Extract<KeptEvent, { type: "gate.opened" }>;

/** The open questions of a run, asked one by one in the input line. */
export class OpenQuestions {
  readonly #options: QuestionOptions;
  readonly #waiting: Question[] = [];
  readonly #calls = new Map<string, ToolCall>();
  #typed = emptyPrompt([]);
  #step: Step = "choose";
  #scope: NonNullable<Answer["scope"]> = "session";

  constructor(options: QuestionOptions) {
    this.#options = options;
  }

  /** True while a question waits for an answer. */
  open(): boolean {
    return this.#waiting.length > 0;
  }

  follow(event: KeptEvent): void {
    if (event.type === "turn.ended") for (const call of event.calls) this.#calls.set(`${event.path}#${call.id}`, call);
    if (event.type === "gate.opened" && (this.#options.takes?.(event) ?? true)) this.#add(event);
    const gone =
      event.type === "gate.answered"
        ? this.#waiting.findIndex(({ path, call }) => path === event.path && call === event.call)
        : event.type === "node.ended"
          ? this.#waiting.findIndex(({ path }) => path === event.path)
          : -1;
    if (gone < 0) return;
    this.#waiting.splice(gone, 1);
    if (event.type === "gate.answered")
      this.#options.print([`${terminalLine(event.path)}: already ${answeredText(event.answer)}`]);
    if (gone === 0) this.#announce();
  }

  key(key: Key): void {
    if (this.#waiting.length === 0) return;
    if (key.name === "escape") return this.#reset();
    const done = promptKey(this.#typed, key, () => []);
    if (!done) return;
    this.#typed = done.prompt;
    if (done.entered !== undefined) this.#enter(done.entered.trim());
  }

  /** The input line with the answer that is being typed. */
  prompt(): Prompt {
    return this.#typed;
  }

  rows(most: number, columns: number): string[] {
    const { look } = this.#options;
    const [question] = this.#waiting;
    if (!question) return [];
    const others = this.#waiting.length > 1 ? ` (${this.#waiting.length - 1} more wait)` : "";
    const title = look.colors.yellow(`${titleOf(this.#step, question)}${others}`);
    // Other output can scroll the question away, so its agent and the tool call stay above the answer.
    const asked = `${this.#askerOf(question)}: ${calledWith(question)}`;
    return most < 2 ? [title] : [look.colors.dim(fit(asked, columns, look.signs.more)), title];
  }

  hint(): string {
    return hintOf(this.#step, this.#waiting[0]);
  }

  close(): void {
    this.#waiting.splice(0);
  }

  #add(event: GateOpened): void {
    const { path, call, question } = event;
    const about =
      call === undefined
        ? undefined
        : (this.#calls.get(`${path}#${call.replace(/\.\d+$/, "")}`) ?? this.#calls.get(`${path}#${call}`));
    this.#waiting.push({
      path,
      text: question,
      call,
      kind: answerKind(event),
      about,
      rule: about && proposedRule(about.name, about.input),
      network: event.offersNetwork ?? false,
    });
    if (this.#waiting.length === 1) this.#announce();
  }

  #reset(): void {
    this.#step = "choose";
    this.#typed = emptyPrompt([]);
  }

  #announce(): void {
    const { look, state, print, changed } = this.#options;
    const [question] = this.#waiting;
    if (!question) return changed();
    this.#reset();
    print(["", look.colors.yellow(`${this.#askerOf(question)} asks:`), ...questionLines(question, look, state.cwd)]);
  }

  /** The agent that asks, and its task. */
  #askerOf({ path }: Question): string {
    const who = this.#options.state.nodes.get(path);
    const name = terminalLine(who?.agent ?? path);
    return `${name}${who && who.label !== who.path ? ` (${terminalLine(who.label)})` : ""}`;
  }

  #send({ path, text, call }: Question, given: Omit<Answer, "by">): void {
    const { answer, print } = this.#options;
    void answer({ path, question: text, ...defined({ call }) }, { ...given, by: "a person" }).then(
      (said) => said === undefined || print([terminalLine(said)]),
    );
  }

  /** Answers the first question, and those that the approved rule covers. */
  #give(given: Omit<Answer, "by">): void {
    const { look, print } = this.#options;
    const question = this.#waiting.shift();
    if (!question) return;
    this.#send(question, given);
    const { rule } = given;
    const covered = rule === undefined ? [] : this.#waiting.filter((other) => isCovered(other, question, rule));
    for (const other of covered) {
      this.#waiting.splice(this.#waiting.indexOf(other), 1);
      this.#send(other, { approve: true });
      print([look.colors.dim(`${this.#askerOf(other)}: ${calledWith(other)} is covered by ${terminalLine(rule!)}`)]);
    }
    this.#announce();
  }

  /**
   * Handles a line after Enter. Single keys never answer, so that a letter of a message cannot answer a question by
   * accident.
   */
  #enter(text: string): void {
    const [question] = this.#waiting;
    if (!question) return;
    if (this.#step === "rule") return this.#enterRule(question, text);
    if (question.kind === "words") return text === "" ? undefined : this.#give({ approve: true, text });
    if (/^y(es)?$/i.test(text)) return this.#give({ approve: true });
    const [no, feedback] = /^no?(?:[\s,:;.-]+([\s\S]+))?$/i.exec(text) ?? [];
    if (no !== undefined) return this.#give({ approve: false, ...defined({ text: feedback }) });
    const lasting = question.kind === "permission";
    if (question.network && /^w$/i.test(text)) return this.#give({ approve: true, network: true });
    if (lasting && /^a$/i.test(text)) return this.#give({ approve: true, always: true, scope: "run" });
    if (!lasting || !/^[cp]$/i.test(text)) return this.#options.other(text);
    this.#scope = text.toLowerCase() === "c" ? "session" : "project";
    if (question.rule === undefined) return this.#give({ approve: true, always: true, scope: this.#scope });
    this.#step = "rule";
    this.#typed = promptWith(this.#typed, question.rule);
  }

  #enterRule({ about }: Question, text: string): void {
    const problem = text === "" ? undefined : problemOfRule(text, about?.name ?? "");
    if (problem === undefined)
      return this.#give({
        approve: true,
        always: true,
        scope: this.#scope,
        ...defined({ rule: text === "" ? undefined : text }),
      });
    this.#typed = promptWith(this.#typed, text);
    this.#options.print([this.#options.look.colors.red(problem)]);
  }
}

/** A short text about the tool call that a question is about; for other questions, the first line. */
function calledWith({ about, text }: Pick<Question, "about" | "text">): string {
  if (!about) return terminalLine(text.split("\n", 1)[0] ?? "");
  const preview = extractToolArgsPreview(about.name, isRecord(about.input) ? about.input : {});
  return terminalLine(revealCall(`${about.name} ${preview}`));
}

/**
 * True when an approved rule also covers this question, because the question proposed the same rule and is asked for
 * the same reason.
 */
function isCovered(other: Question, answered: Question, rule: string | undefined): boolean {
  const reason = ({ text }: Question): string => /\(.*\):$/.exec(text.split("\n", 1)[0] ?? "")?.[0] ?? text;
  return other.kind === "permission" && !other.network && other.rule === rule && reason(other) === reason(answered);
}

/** The problem with a typed rule; `undefined` when it is valid. */
function problemOfRule(rule: string, tool: string): string | undefined {
  try {
    parseRules([rule], [tool]);
    return undefined;
  } catch (error) {
    return terminalLine(isCrewError(error) ? `${error.message} ${error.hint}` : messageOf(error));
  }
}

const answeredText = ({ approve, by }: Answer): string =>
  `${approve ? "approved" : "rejected"} by ${terminalLine(by ?? "another person")}`;

function titleOf(step: Step, { kind }: Question): string {
  if (step === "rule") return "Allow every call that this rule covers. Edit the rule, then press Enter.";
  return titles[kind];
}

const titles: Readonly<Record<AnswerKind, string>> = {
  words: "Your answer?",
  approval: "Approve?",
  permission: "Allow this call?",
};

/** The accepted answers for each kind of question. */
export const answerHints: Readonly<Record<AnswerKind, string>> = {
  words: "type an answer, then Enter",
  approval: "y yes, n no, n WORDS what to change; then Enter",
  permission: "y once, a always, c pattern, p for project, n WORDS no; Enter",
};

const hintOf = (step: Step, question: Question | undefined): string =>
  step === "choose"
    ? `${question?.network ? "w with network, " : ""}${answerHints[question?.kind ?? "approval"]}`
    : "Enter sends, Esc goes back";

/**
 * The whole question; an edit is shown as a diff. Words of an agent are indented: at the left margin they could imitate
 * another question.
 */
export function questionLines(
  { text, about, kind }: Pick<Question, "text" | "about" | "kind">,
  look: Look,
  cwd = "",
): string[] {
  const columns = Math.max(20, (process.stderr.columns || 80) - 1);
  const margin = about && kind === "permission" ? "" : "  "; // the tool `ask` is a call, too, and its text is an agent's
  const lines = text
    .split("\n")
    .flatMap((line) => markedRows(`${margin}${reveal(line.replaceAll("\t", "    "))}`, columns));
  const diff = about && askedDiff(about, cwd);
  if (diff === undefined) return lines;
  const path = isRecord(about?.input) ? about.input["path"] : undefined;
  return [
    lines[0] ?? "",
    ...(typeof path === "string"
      ? [`  path: ${revealCall(path.replaceAll("\n", "\u240a").replaceAll("\t", "\u2409"))}`].flatMap((line) =>
          markedRows(line, columns),
        )
      : []),
    ...diffLines(revealLines(diff), { look, columns, most: Number.POSITIVE_INFINITY }),
  ];
}

/**
 * The rows of a line of a question. An argument that is wider than the terminal continues behind a mark. Without the
 * mark, its continuation would begin a row like a new question, and could imitate one.
 */
export function markedRows(line: string, columns: number): string[] {
  if (!line.startsWith("  ") || widthOf(line) <= columns) return [line];
  const rows: string[] = [];
  let row = "";
  let width = 0;
  for (const cluster of clustersOf(line)) {
    const wide = widthOf(cluster);
    if (width + wide > columns) {
      rows.push(row);
      row = MARK;
      width = MARK.length;
    }
    row += cluster;
    width += wide;
  }
  return [...rows, row];
}
const MARK = "    · ";

/**
 * Shows control characters as symbols, and writes invisible characters as codes, because a person approves exactly this
 * text.
 */
const revealCall = (text: string): string => spellInvisible(reveal(text));

/** Shows control characters in each line of a text as symbols; line ends stay. */
const revealLines = (text: string): string => text.split("\n").map(revealCall).join("\n");
