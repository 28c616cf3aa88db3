import { type AnswerKind, answerKind } from "../core/plan/answer-kind.ts";
import type { Answer } from "../core/plan/gate.ts";
import type { Question } from "../core/run/run-status.ts";
import { isRecord } from "../core/text/json.ts";
import { reveal } from "../core/text/sanitize.ts";
import type { Capabilities, Questions } from "./sdk.ts";

/**
 * True when the client can show forms. An MCP client that declares the capability `elicitation` (questions to the
 * person) without naming a kind supports forms.
 */
export const hasForms = ({ elicitation }: Capabilities): boolean =>
  elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);

/** The key that identifies a question. It stays the same when the client repeats its request with answers. */
export const keyOf = ({ run, path, call = "" }: Pick<Question, "run" | "path" | "call">): string =>
  `${run}/${path}#${call}`;

const forms: Readonly<Record<AnswerKind, Readonly<Record<string, object>>>> = {
  words: { text: { type: "string", title: "Answer" } },
  approval: {
    approve: { type: "boolean", title: "Approve" },
    text: { type: "string", title: "If you do not approve: what to change" },
  },
  permission: {
    approve: { type: "boolean", title: "Allow this call" },
    always: { type: "boolean", title: "Always allow this exact call in this run" },
    text: { type: "string", title: "If you do not allow it: what to do instead" },
  },
};
const needed: Readonly<Record<AnswerKind, readonly string[]>> = {
  words: ["text"],
  approval: ["approve"],
  permission: ["approve"],
};

/** Converts the questions to forms for the client. Invisible characters are made visible. */
export function formsFor(questions: readonly Question[]): Questions {
  return Object.fromEntries(
    questions.map((question) => [
      keyOf(question),
      {
        method: "elicitation/create" as const,
        params: {
          mode: "form" as const,
          message: shown(`${question.run}/${question.path}: ${question.question}`),
          requestedSchema: {
            type: "object" as const,
            properties: forms[answerKind(question)],
            required: [...needed[answerKind(question)]],
          },
        },
      },
    ]),
  ) as Questions;
}

/** The answer in a client's reply to a form; `undefined` when the question was postponed and stays in the inbox. */
export function answerIn(reply: unknown, kind: AnswerKind): Answer | undefined {
  if (!isRecord(reply)) return undefined;
  const by = "the MCP client";
  if (reply["action"] === "decline") return { approve: false, by };
  if (reply["action"] !== "accept") return undefined;
  const said = isRecord(reply["content"]) ? reply["content"] : {};
  const text = typeof said["text"] === "string" && said["text"].trim() !== "" ? { text: said["text"] } : {};
  if (kind === "words") return { approve: true, ...text, by };
  const approve = said["approve"] === true;
  return { approve, ...text, by, ...(approve && kind === "permission" && said["always"] === true && { always: true }) };
}

const shown = (text: string): string =>
  text
    .split("\n")
    .map((line) => reveal(line))
    .join("\n");
