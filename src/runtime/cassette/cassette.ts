import { createHash } from "node:crypto";
import { readRegularText } from "../disk/regular-file.ts";
import { z } from "zod";
import type { Message, ModelEvent, ModelRequest } from "../../core/model/model.ts";
import { CrewError, messageOf } from "../../core/schema/error.ts";
import { parseAs } from "../../core/schema/parse.ts";
import { withoutEnvironment } from "../../core/task/environment.ts";
import type { PeerAsk } from "../../core/task/mcp-tools.ts";
import type { ChosenModel, ModelSource } from "../../core/task/runner.ts";
import type { ToolResult } from "../../core/task/tool.ts";
import { defined } from "../../core/text/defined.ts";
import { DEEPEST_RECORD, type JsonSchema, parseJson } from "../../core/text/json.ts";

const message = z.strictObject({ hash: z.string(), begins: z.string() });
const cassette = z.strictObject({
  version: z.literal(1),
  /** The folder in which the run was recorded; paths below it are compared relative to it. */
  cwd: z.string(),
  /** The models that were chosen, by request. */
  choices: z.array(
    z.strictObject({
      wished: z.string(),
      name: z.string(),
      ref: z.string(),
      id: z.string(),
      why: z.string(),
      contextWindow: z.number().optional(),
    }),
  ),
  /** The model turns, in the order in which the tasks took them. */
  turns: z.array(
    z.strictObject({ task: z.string(), asked: z.array(message), events: z.array(z.custom<ModelEvent>()) }),
  ),
  tools: z.array(
    z.strictObject({
      task: z.string(),
      tool: z.string(),
      input: z.unknown(),
      result: z.custom<ToolResult>().optional(),
      threw: z.string().optional(),
    }),
  ),
  /** The tools that MCP servers offered to each task; calls of these tools are recorded with the other tool calls. */
  peers: z
    .array(
      z.strictObject({
        asked: z.string(),
        tools: z.array(
          z.strictObject({
            name: z.string(),
            description: z.string(),
            input: z.custom<JsonSchema>(),
            effect: z.enum(["read", "write"]),
          }),
        ),
      }),
    )
    .default([]),
});

/** A recording (cassette): the model and tool calls of one run. It contains no secrets. */
export type Cassette = z.infer<typeof cassette>;
export type RecordedRequest = Cassette["turns"][number]["asked"];

/** Reads a recording from its file. */
export async function readCassette(file: string): Promise<Cassette> {
  const text = await readRegularText(file, 2 ** 29).catch((error: unknown) => {
    const isMissing = (error as NodeJS.ErrnoException).code === "ENOENT";
    throw new CrewError(
      "BAD_FILE",
      isMissing
        ? `The recording "${file}" does not exist.`
        : `The recording ${file} cannot be read: ${messageOf(error)}.`,
      "Check the path, or make a recording with --record.",
    );
  });
  return parseCassette(text, file);
}

function parseCassette(text: string, file: string): Cassette {
  let value: unknown;
  try {
    value = parseJson(text, DEEPEST_RECORD);
  } catch {
    throw new CrewError("BAD_FILE", `The recording ${file} is not JSON.`, "Make a new recording with --record.");
  }
  return parseAs<Cassette>(cassette, value, { code: "BAD_FILE", what: "recording" });
}

/** The key of the task that a model turn or a tool call belongs to: its path and its attempt. */
export const taskKey = ({ path, attempt }: Readonly<{ path: string; attempt: number }>): string => `${path}#${attempt}`;

/** The name of a task's acceptance command in a recording; no tool can have this name. */
export const ACCEPTANCE = "--accept-cmd";

/** The entry that is recorded instead of a result when another task won the race while the acceptance command ran. */
export const CUT_OFF = "cut off: another contender won the race";

/** The key under which a request for a model is found in a recording. */
export const wishKey = (wished: Parameters<ModelSource["choose"]>, same: Sameness): string =>
  same.redact(stable(wished)).replaceAll(same.cwd, ".");

/** The key under which a request for MCP tools is found in a recording. */
export const peerKey = ({ agent, ceiling }: PeerAsk, same: Sameness): string =>
  same.redact(stable([agent.name, ceiling ?? null]));

/** The key under which a tool call is found in a recording. */
export const callKey = (task: string, tool: string, input: unknown, same: Sameness): string =>
  `${task} ${tool} ${same.redact(stable(input)).replaceAll(same.cwd, ".")}`;

/** The part of a model choice that is recorded. */
export function choiceOf(
  wished: string,
  { name, ref, id, why, contextWindow }: ChosenModel,
): Cassette["choices"][number] {
  return { wished, name, ref, id, why, ...defined({ contextWindow }) };
}

/** Makes values comparable that may differ between recording and replay: the date and the working folder. */
export type Sameness = Readonly<{ cwd: string; redact(text: string): string }>;

const BEGINS = 100;
const DAY = /\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{2} \d{4}\b/g;

/** A model request as a list of messages for comparison; the system prompt is the first. */
export function askedIn({ system, messages, tools }: ModelRequest, same: Sameness): RecordedRequest {
  const texts = [`${withoutEnvironment(system)}\n${tools.map(({ name }) => name).join()}`, ...messages.map(textOf)];
  return texts.map((text) => {
    const plain = same.redact(text).replaceAll(same.cwd, ".").replace(DAY, "today");
    return { hash: createHash("sha256").update(plain).digest("hex").slice(0, 16), begins: plain.slice(0, BEGINS) };
  });
}

function textOf(said: Message): string {
  if (said.role === "user") return said.text;
  if (said.role === "assistant")
    return `${said.text}${said.calls.map(({ name, input }) => `\n${name} ${stable(input)}`).join("")}`;
  return said.results.map(({ name, text }) => `${name}: ${text}`).join("\n");
}

/** JSON in which the order of keys does not matter. */
export function stable(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    inner !== null && typeof inner === "object" && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
