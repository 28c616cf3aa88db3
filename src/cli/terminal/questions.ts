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

/** The open questions of a run, asked one by one in the input line. */
export type OpenQuestions = Readonly<{
  /** True while a question waits for an answer. */
  open(): boolean;
  follow(event: KeptEvent): void;
  key(key: Key): void;
  /** The input line with the answer that is being typed. */
  prompt(): Prompt;
  rows(most: number, columns: number): string[];
  hint(): string;
  close(): void;
}>;

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
  takes?(event: Extract<KeptEvent, { type: "gate.opened" }>): boolean;
}>;

export function createQuestions(options: QuestionOptions): OpenQuestions {
  const { look, state, answer, print, changed, other, takes = () => true } = options;
  const waiting: Question[] = [];
  const calls = new Map<string, ToolCall>();
  let typed = emptyPrompt([]);
  let step: Step = "choose";
  let scope: NonNullable<Answer["scope"]> = "session";

  const announce = (): void => {
    const [question] = waiting;
    if (!question) return changed();
    typed = emptyPrompt([]);
    step = "choose";
    print(["", look.colors.yellow(`${askerOf(question)} asks:`), ...questionLines(question, look, state.cwd)]);
  };
  /** The agent that asks, and its task. */
  const askerOf = ({ path }: Question): string => {
    const who = state.nodes.get(path);
    const name = terminalLine(who?.agent ?? path);
    return `${name}${who && who.label !== who.path ? ` (${terminalLine(who.label)})` : ""}`;
  };
  const send = ({ path, text, call }: Question, given: Omit<Answer, "by">): void =>
    void answer({ path, question: text, ...defined({ call }) }, { ...given, by: "a person" }).then(
      (said) => said === undefined || print([terminalLine(said)]),
    );
  const give = (given: Omit<Answer, "by">): void => {
    const question = waiting.shift();
    if (!question) return;
    send(question, given);
    const covered = given.rule === undefined ? [] : waiting.filter((other) => isCovered(other, question, given.rule));
    for (const other of covered) {
      waiting.splice(waiting.indexOf(other), 1);
      send(other, { approve: true });
      print([look.colors.dim(`${askerOf(other)}: ${calledWith(other)} is covered by ${terminalLine(given.rule!)}`)]);
    }
    announce();
  };
  /**
   * Handles a line after Enter. Single keys never answer, so that a letter of a message cannot answer a question by
   * accident.
   */
  const enter = (text: string): void => {
    const [question] = waiting;
    if (!question) return;
    if (step === "rule") {
      const problem = text === "" ? undefined : problemOfRule(text, question.about?.name ?? "");
      if (problem !== undefined) {
        typed = promptWith(typed, text);
        return print([look.colors.red(problem)]);
      }
      return give({ approve: true, always: true, scope, ...defined({ rule: text === "" ? undefined : text }) });
    }
    if (question.kind === "words") return text === "" ? undefined : give({ approve: true, text });
    if (/^y(es)?$/i.test(text)) return give({ approve: true });
    const [no, feedback] = /^no?(?:[\s,:;.-]+([\s\S]+))?$/i.exec(text) ?? [];
    if (no !== undefined) return give({ approve: false, ...defined({ text: feedback }) });
    const lasting = question.kind === "permission";
    if (question.network && /^w$/i.test(text)) return give({ approve: true, network: true });
    if (lasting && /^a$/i.test(text)) return give({ approve: true, always: true, scope: "run" });
    if (lasting && /^[cp]$/i.test(text)) {
      scope = text.toLowerCase() === "c" ? "session" : "project";
      if (question.rule === undefined) return give({ approve: true, always: true, scope });
      step = "rule";
      typed = promptWith(typed, question.rule);
    } else other(text);
  };
  return {
    open: () => waiting.length > 0,
    follow: (event) => {
      if (event.type === "turn.ended") for (const call of event.calls) calls.set(`${event.path}#${call.id}`, call);
      if (event.type === "gate.opened" && takes(event)) {
        const about =
          event.call === undefined
            ? undefined
            : (calls.get(`${event.path}#${event.call.replace(/\.\d+$/, "")}`) ??
              calls.get(`${event.path}#${event.call}`));
        waiting.push({
          path: event.path,
          text: event.question,
          call: event.call,
          kind: answerKind(event),
          about,
          rule: about && proposedRule(about.name, about.input),
          network: event.offersNetwork ?? false,
        });
        if (waiting.length === 1) announce();
      }
      const gone =
        event.type === "gate.answered"
          ? waiting.findIndex(({ path, call }) => path === event.path && call === event.call)
          : event.type === "node.ended"
            ? waiting.findIndex(({ path }) => path === event.path)
            : -1;
      if (gone < 0) return;
      waiting.splice(gone, 1);
      if (event.type === "gate.answered") print([`${terminalLine(event.path)}: already ${answeredText(event.answer)}`]);
      if (gone === 0) announce();
    },
    key: (key) => {
      const [question] = waiting;
      if (!question) return;
      if (key.name === "escape") {
        step = "choose";
        typed = emptyPrompt([]);
        return;
      }
      const done = promptKey(typed, key, () => []);
      if (!done) return;
      typed = done.prompt;
      if (done.entered !== undefined) enter(done.entered.trim());
    },
    prompt: () => typed,
    rows: (most, columns) => {
      const [question] = waiting;
      if (!question) return [];
      const others = waiting.length > 1 ? ` (${waiting.length - 1} more wait)` : "";
      const title = look.colors.yellow(`${titleOf(step, question)}${others}`);
      // Other output can scroll the question away, so its agent and the tool call stay above the answer.
      const asked = `${askerOf(question)}: ${calledWith(question)}`;
      return most < 2 ? [title] : [look.colors.dim(fit(asked, columns, look.signs.more)), title];
    },
    hint: () => hintOf(step, waiting[0]),
    close: () => void waiting.splice(0),
  };
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
