import { createHash } from "node:crypto";
import type { ModelRequest, ToolSpec } from "../../core/model/model.ts";
import type { Assignment } from "../../core/task/runner.ts";
import { toolSpecs } from "../../core/task/tool-specs.ts";
import { finishSpec } from "./finish-tool.ts";

/** The part before the messages of every request in a conversation, and the prefix shared with other tasks. */
export type ConversationHead = Readonly<{
  tools: readonly ToolSpec[];
  /** The tools of the last turn, in which the agent can only return its result. */
  finishTools: readonly ToolSpec[];
  /** Number of characters of the system prompt and the tools. */
  chars: number;
  prefix: NonNullable<ModelRequest["prefix"]>;
}>;

type HeadParts = Pick<
  Assignment,
  "agent" | "completion" | "prompt" | "rights" | "schema" | "sharedChars" | "system" | "toolNames" | "tools"
>;

/** The head of a task's requests. A forked task uses the head of the conversation that it starts from. */
export function conversationHead(assignment: HeadParts, fork?: Assignment["call"]["fork"]): ConversationHead {
  const { completion, prompt, rights, sharedChars = 0, system } = assignment;
  const finishTools = completion === "text" ? [] : [finishSpec(assignment)];
  const tools = fork?.tools ?? [...toolSpecs(assignment.tools, rights, assignment.toolNames), ...finishTools];
  const toolText = JSON.stringify(tools);
  const chars = system.length + toolText.length;
  const key = prefixKey([system, toolText, prompt.slice(0, sharedChars)]);
  return { tools, finishTools, chars, prefix: fork?.prefix ?? { key, chars: chars + sharedChars } };
}

/** A key for the common beginning of the requests of sibling tasks. */
const prefixKey = (parts: readonly string[]): string =>
  createHash("sha256").update(parts.join("\0")).digest("hex").slice(0, 32);
