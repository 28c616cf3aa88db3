import { z } from "zod";
import { LETTER, LETTER_OR_MARK, namePattern } from "../text/name-characters.ts";
import { contextOptions } from "./context.ts";
import { exhaustedKinds } from "./review.ts";
import { type Task, task } from "./task.ts";

/** The characters that a node id may have after its first character, and its maximum length. */
export const NODE_ID_CHARACTERS = `${LETTER_OR_MARK}_.:@\\-`;
export const MOST_NODE_ID = 80;

/**
 * Valid ids of nodes. They are parts of paths, so they have no slash; `__proto__` is excluded because it cannot be a
 * key of an object.
 */
export const NODE_ID = namePattern(`${LETTER}_`, NODE_ID_CHARACTERS, MOST_NODE_ID, "(?!__proto__$)");
const id = z
  .string()
  .regex(
    NODE_ID,
    "a node id starts with a letter, digit or _ and contains only letters, digits, inner spaces and _ . : @ -, at most 80",
  );
const needs = z.array(id).optional().describe("nodes that must succeed first");

/** A node that is one task for one agent. */
const taskNode = z.strictObject({ kind: z.literal("task"), needs, task });

/**
 * Collects the outputs of other nodes. `settled` waits for all of them; `first` waits until `count` of them have
 * succeeded.
 */
const joinNode = z.strictObject({
  kind: z.literal("join"),
  needs: z.array(id).min(1),
  pick: z.enum(["settled", "first"]).default("settled"),
  count: z.number().int().min(1).optional().describe("with `first`: how many successes are needed; default 1"),
});

/** Waits for an approval or rejection. */
const gateNode = z.strictObject({
  kind: z.literal("gate"),
  needs,
  question: z.string().min(1).describe("the prompt; {node} is replaced by that node's output"),
  refs: task.shape.refs,
});

/** A plan that is repeated until one of its nodes approves. */
const loopNode: z.ZodType<LoopNode> = z.strictObject({
  kind: z.literal("loop"),
  needs,
  get body() {
    return z.strictObject({ nodes: z.record(id, node), output: id });
  },
  until: id.describe("the node of the body that approves the work or requests another round"),
  max: z.number().int().min(1).max(100).describe("maximum number of rounds"),
  exhausted: z
    .enum(exhaustedKinds)
    .default("accept")
    .describe("what happens to the last round when it was not approved"),
});

export const node: z.ZodType<Node> = z.discriminatedUnion("kind", [taskNode, joinNode, gateNode, loopNode as never]);

/** A graph of nodes with exactly one output. It is JSON, so a person or a model can write a plan. */
export const plan = z.strictObject({
  name: z.string().optional(),
  nodes: z.record(id, node),
  output: id.describe("the node whose output is the result"),
  concurrency: z.number().int().min(1).optional().describe("how many tasks run at once"),
  context: contextOptions.optional().describe("context for every task"),
  notes: z.array(z.string()).optional().describe("warnings of the mode that compiled the plan"),
});

export type TaskNode = Readonly<{ kind: "task"; needs?: readonly string[] | undefined; task: Task }>;
export type JoinNode = Readonly<{
  kind: "join";
  needs: readonly string[];
  pick: "settled" | "first";
  count?: number | undefined;
}>;
export type GateNode = Readonly<{
  kind: "gate";
  needs?: readonly string[] | undefined;
  question: string;
  refs?: Task["refs"];
}>;
export type LoopNode = Readonly<{
  kind: "loop";
  needs?: readonly string[] | undefined;
  body: Body;
  until: string;
  max: number;
  exhausted: (typeof exhaustedKinds)[number];
}>;
export type Node = TaskNode | JoinNode | GateNode | LoopNode;

/** The executable part of a plan: nodes and the output node. */
export type Body = Readonly<{ nodes: Readonly<Record<string, Node>>; output: string }>;
export type Plan = Body & Readonly<Omit<z.infer<typeof plan>, "nodes" | "output">>;
