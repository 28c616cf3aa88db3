import { basename, resolve } from "node:path";
import { readNamedFile } from "../../runtime/disk/regular-file.ts";
import { z } from "zod";
import type { Model } from "../../core/model/model.ts";
import type { FaultCode } from "../../core/outcome/outcome.ts";
import { CrewError, messageOf } from "../../core/schema/error.ts";
import { parseAs } from "../../core/schema/parse.ts";
import { defined } from "../../core/text/defined.ts";
import { type ScriptedTurn, scripted } from "./scripted.ts";
import { DEEPEST_RECORD, JsonDepthError, parseJson, TOO_DEEP_JSON } from "../../core/text/json.ts";

const turn = z.union([
  z.string(),
  z.strictObject({
    text: z.string().optional(),
    thinking: z.string().optional(),
    calls: z.array(z.strictObject({ name: z.string(), input: z.unknown(), id: z.string().optional() })).optional(),
    delayMs: z.number().int().nonnegative().optional(),
    error: z
      .strictObject({
        code: z.string(),
        message: z.string(),
        hint: z.string().optional(),
        retryable: z.boolean().default(true),
      })
      .optional(),
    usage: z.strictObject({ input: z.number(), output: z.number() }).optional(),
    cost: z.number().nonnegative().optional(),
  }),
]);

const file = z.union([
  z.array(turn).min(1),
  z.strictObject({ shared: z.boolean().optional(), turns: z.array(turn).min(1) }),
]);

/**
 * Reads scripted models from files of turns. Every attempt of a task plays its file from the beginning, or from where
 * it was when the run is resumed. If the file says `shared`, all tasks take their turns from one list.
 */
export function createScriptReader(cwd: string): (path: string) => Promise<Model> {
  const known = new Map<string, Promise<() => Model>>();
  return async (path) => {
    const opened = known.get(path) ?? open(resolve(cwd, path));
    known.set(path, opened);
    opened.catch(() => known.delete(path)); // a file that is missing now may exist for the next task
    return (await opened)();
  };
}

async function open(path: string): Promise<() => Model> {
  const { turns, shared } = await read(path);
  const one = scripted(...turns);
  return () => (shared ? one : fromWhereItWas(turns));
}

/**
 * A scripted model for a resumed conversation: it plays the turns after those that the conversation already contains.
 */
function fromWhereItWas(turns: readonly ScriptedTurn[]): Model {
  let model: Model | undefined;
  return (request, signal) => {
    model ??= scripted(...turns.slice(request.messages.filter(({ role }) => role === "assistant").length));
    return model(request, signal);
  };
}

async function read(path: string): Promise<{ turns: readonly ScriptedTurn[]; shared: boolean }> {
  const text = await readNamedFile(path, 2 ** 29).catch((error: unknown) => {
    throw new CrewError(
      "BAD_FILE",
      `The script of a model cannot be read: ${messageOf(error)}.`,
      "Check the path after `scripted:`.",
    );
  });
  const parsed = parseAs(file, jsonIn(text, path), { code: "BAD_FILE", what: `script ${basename(path)}` });
  const { turns, shared = false } = Array.isArray(parsed) ? { turns: parsed } : parsed;
  return { shared, turns: turns.map((turn, at) => asTurn(turn, at + 1)) };
}

function asTurn(written: z.infer<typeof turn>, number: number): ScriptedTurn {
  if (typeof written === "string") return written;
  const { error, calls, usage, ...rest } = written;
  const plain = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined)) as Omit<
    Exclude<ScriptedTurn, string>,
    "error" | "calls" | "usage"
  >;
  return {
    ...plain,
    ...defined({ usage }),
    ...(calls && { calls: calls.map(({ id, ...call }, at) => ({ ...call, id: id ?? `call_${number}_${at + 1}` })) }),
    ...(error && {
      error: {
        code: error.code as FaultCode,
        message: error.message,
        retryable: error.retryable,
        ...defined({ hint: error.hint }),
      },
    }),
  };
}

function jsonIn(text: string, path: string): unknown {
  try {
    return parseJson(text, DEEPEST_RECORD);
  } catch (error) {
    throw new CrewError(
      "BAD_FILE",
      `The script ${basename(path)} is ${error instanceof JsonDepthError ? TOO_DEEP_JSON : "not JSON"}.`,
      'Give a list of turns, as in ["hello"].',
    );
  }
}
