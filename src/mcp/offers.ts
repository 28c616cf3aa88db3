import { z } from "zod";
import { parseAs } from "../core/schema/parse.ts";
import { defined } from "../core/text/defined.ts";
import { isRecord } from "../core/text/json.ts";
import { compile, inputOf, type Mode } from "../modes/compile.ts";
import { briefSchema } from "./brief-schema.ts";
import type { DelegationTools } from "./delegated.ts";
import { type Offer, schemaOf, type ToolArguments } from "./offer.ts";
import { ROOT } from "./result/resource-uri.ts";
import type { CallResult } from "./sdk.ts";
import type { ServerContext } from "./server-context.ts";
import { boundData, boundText, fitting, MAX_CHARS } from "./result/bound.ts";
import { callResultOf } from "./call-result.ts";
import { runView, type RunView } from "./result/view.ts";

const MAX_WAIT_S = 50;

const left = z.number().optional().describe("how many more there are that do not fit");

/** The options that decide which tools an MCP server lists, and how. */
export type OfferOptions = Readonly<{
  /** Delegation tools that the owner of the server chose in addition to subcrew's own tools. */
  delegation: DelegationTools | undefined;
  /** True when all fields of arguments and results are listed. */
  full: boolean;
  /** True when agents may change nothing, because of the permission mode of the server. */
  readOnly: boolean;
}>;

/**
 * All tools of the server. If a delegation tool has the name of one of subcrew's own tools, subcrew's own tool becomes
 * `subcrew_NAME`.
 */
export async function offersWith({ delegation, full, readOnly }: OfferOptions): Promise<readonly Offer[]> {
  const own = offers.map((offer) => ({ ...(full ? offer : brief(offer)), readOnly: readOnly || offer.readOnly }));
  if (!delegation) return own;
  const more = (await delegation.tools()).map(
    (tool): Offer => ({
      ...tool,
      input: () => tool.input,
      readOnly: readOnly || tool.readOnly,
      openWorld: true,
      delegate: (args, call) => delegation.call(tool.name, args, call),
    }),
  );
  const taken = new Set(more.map(({ name }) => name));
  return [...own.map((offer) => (taken.has(offer.name) ? { ...offer, name: qualified(offer.name) } : offer)), ...more];
}

/** The tool with this name. Subcrew's own tools can always be called as `subcrew_NAME`. */
export function offerNamed(name: string, all: readonly Offer[]): Offer | undefined {
  return all.find((offer) => offer.name === name) ?? all.find((offer) => qualified(offer.name) === name);
}

const qualified = (name: string): string => `subcrew_${name}`;

/** Lists a tool without its result schema and without rare arguments, to save tokens. */
function brief({ output: _output, ...offer }: Offer): Offer {
  return { ...offer, input: () => briefSchema(offer.input()) };
}

/** Subcrew's own tools, in the order in which a client sees them. */
const offers: readonly Offer[] = [
  starting("run", "single", "Runs one agent on one task and returns its result."),
  starting("parallel", "parallel", "Runs several tasks in parallel and returns all their results."),
  starting(
    "chain",
    "chain",
    "Runs steps one after the other; {previous} in a task is replaced by the result of the previous step.",
  ),
  starting("race", "race", "Gives the same task to several agents or models; the first good answer wins."),
  starting("team", "team", "Runs a team: roles, tasks that depend on each other, reviews and approvals."),
  answering({
    name: "agents",
    description: "Lists the agents and what each is for. `query` filters the list.",
    readOnly: true,
    openWorld: false,
    input: z.strictObject({ query: z.string().optional().describe("a word of the name or of the description") }),
    output: z.object({
      agents: z.array(
        z.object({
          name: z.string(),
          description: z.string(),
          readOnly: z.boolean().describe("true: the agent is read-only"),
          source: z.string(),
        }),
      ),
      left,
    }),
    answer: async ({ query = "" }, { crew }) => {
      const wanted = query.toLowerCase();
      const { agents } = await crew.catalog();
      const found = agents
        .filter(({ hidden }) => hidden !== true)
        .map(({ name, description, readOnly, source = "inline" }) => ({ name, description, readOnly, source }))
        .filter(({ name, description }) => `${name}\n${description}`.toLowerCase().includes(wanted));
      const lines = found.map(
        ({ name, description, readOnly }) => `${name}${readOnly ? " (read-only)" : ""}: ${description}`,
      );
      const text = boundText(lines.join("\n") || "No agent matches.", ["`query` filters the list"]);
      return told(text, listed("agents", found));
    },
  }),
  answering({
    name: "status",
    description:
      "Shows the progress and the open questions of the named run, or of all runs that were started through this server.",
    readOnly: true,
    openWorld: false,
    input: z.strictObject({ run: z.string().optional().describe("id or name of the run") }),
    output: z.object({ runs: z.array(runView), left }),
    answer: async ({ run }, office) => {
      const runs = run === undefined ? await office.list() : [await office.look(run)];
      const lines = runs.map(({ run: id, status, name, questions = [] }) =>
        [
          `${id} ${status}${name === undefined ? "" : ` (${name})`}`,
          ...questions.map(
            ({ path, question, answered }) =>
              `  ${path} asks: ${question}${answered ? " (It is answered; the answer is kept until the run is resumed.)" : ""}`,
          ),
        ].join("\n"),
      );
      const text = boundText(lines.join("\n") || "No runs were started through this server yet.", [ROOT]);
      return told(text, listed("runs", await short(runs, office)));
    },
  }),
  answering({
    name: "result",
    description: "Returns the result of a run, or its progress. `waitSeconds` waits for its end first.",
    readOnly: true,
    openWorld: false,
    input: z.strictObject({
      run: z.string().describe("id or name of the run"),
      waitSeconds: z.number().min(0).max(MAX_WAIT_S).optional(),
    }),
    output: runView,
    answer: async ({ run, waitSeconds = 0 }, office, signal) =>
      callResultOf(await office.wait(run, waitSeconds * 1_000, signal), office.outputFile),
  }),
  answering({
    name: "answer",
    description:
      "Answers an open question of a run: approves or rejects a gate, or replies to an agent. Only the user can permit tool calls.",
    readOnly: false,
    openWorld: false,
    input: z.strictObject({
      run: z.string().describe("id or name of the run"),
      path: z.string().optional().describe("path of the task that asks, if the run has several open questions"),
      approve: z.boolean().optional().describe("false: reject; default: true (approve)"),
      text: z.string().optional().describe("the reply, or what has to change"),
    }),
    output: z.object({ path: z.string(), done: z.boolean(), text: z.string() }),
    answer: async ({ run, path, approve = true, text }, office) => {
      const answer = { approve, by: "the MCP client", ...defined({ text }) };
      const receipt = await office.answer(run, { path, answer });
      return { ...told(receipt.text, receipt), ...(!receipt.done && { isError: true }) };
    },
  }),
  answering({
    name: "cancel",
    description: "Ends a run for good; finished work is kept.",
    readOnly: false,
    openWorld: false,
    input: z.strictObject({
      run: z.string().describe("id or name of the run"),
      reason: z.string().optional(),
    }),
    output: runView,
    answer: async ({ run, reason = "cancelled by the MCP client" }, office) => {
      const view = await office.cancel(run, reason);
      return told(`${view.run} is ${view.status}.`, await boundData(view, office.outputFile));
    },
  }),
];

function starting(name: string, mode: Exclude<Mode, "plan">, description: string): Offer {
  const input = inputOf(mode)
    .omit({ mode: true })
    .extend({ wait: z.boolean().optional().describe("false: only start the run; `result` returns its result later") });
  return {
    name,
    description,
    input: schemaOf(input, "input"),
    output: schemaOf(runView, "output"),
    readOnly: false,
    openWorld: true,
    plan: ({ wait: _wait, ...args }) => compile({ ...args, mode }),
    waits: ({ wait }) => wait !== false,
  };
}

type Answer<I> = Omit<Offer, "input" | "output" | "answer" | "plan" | "waits"> &
  Readonly<{
    input: z.ZodType<I>;
    output: z.ZodType;
    answer(
      args: I,
      ...rest: Parameters<Extract<Offer, { answer: unknown }>["answer"]> extends [unknown, ...infer R] ? R : never
    ): Promise<CallResult>;
  }>;

function answering<I>({ input, output, answer, ...offer }: Answer<I>): Offer {
  return {
    ...offer,
    input: schemaOf(input, "input"),
    output: schemaOf(output, "output"),
    answer: (args: ToolArguments, ...rest) =>
      answer(parseAs(input, args, { code: "BAD_INPUT", what: `arguments of ${offer.name}` }), ...rest),
  };
}

/** The runs within the bound of a result: the newest with their shares, the others with less. */
const short = (runs: readonly RunView[], { outputFile }: Pick<ServerContext, "outputFile">): Promise<RunView[]> =>
  Promise.all(runs.map((run) => boundData(run, outputFile, Math.floor(MAX_CHARS / runs.length))));

/** A list as data, as far as it fits. */
function listed(name: string, rows: readonly object[]): Readonly<Record<string, unknown>> {
  const kept = fitting(rows, MAX_CHARS - LIST_CHARS);
  const more = rows.length - kept.length;
  return { [name]: kept, ...(more > 0 && { left: more }) };
}

/** The space for the frame of a list. */
const LIST_CHARS = 50;

function told(text: string, data: unknown): CallResult {
  return { content: [{ type: "text", text }], ...(isRecord(data) && { structuredContent: data }) };
}
