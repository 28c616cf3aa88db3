import { hash } from "node:crypto";
import type { ModelRequest, ToolSpec } from "../../core/model/model.ts";
import type { Assignment } from "../../core/task/runner.ts";
import { toolSpecs } from "../../core/task/tool-specs.ts";
import { defined } from "../../core/text/defined.ts";
import { isFinishTool } from "../../core/policy/permit.ts";
import { finishSpec } from "./finish-tool.ts";

/**
 * The parts before the messages in every request of a conversation (system prompt and tools), and the beginning that is
 * shared with other tasks.
 */
export type ConversationHead = Readonly<{
  tools: readonly ToolSpec[];
  /** The name of the finish tool, if one is among the tools. */
  finishTool?: string;
  /** Number of characters of the system prompt and the tools. */
  chars: number;
  prefix: NonNullable<ModelRequest["prefix"]>;
}>;

type HeadParts = Pick<
  Assignment,
  "agent" | "completion" | "prompt" | "rights" | "schema" | "sharedChars" | "system" | "toolNames" | "tools"
>;

/**
 * The system prompt and the tools of a task's requests. A forked task uses the prompt and tools of the conversation
 * that it starts from.
 */
export function conversationHead(assignment: HeadParts, fork?: Assignment["call"]["fork"]): ConversationHead {
  const { completion, prompt, sharedChars = 0, system } = assignment;
  const { tools, text: toolText } = fork
    ? written(fork.tools)
    : completion === "text"
      ? shownTools(assignment)
      : written([...shownTools(assignment).tools, finishSpec(assignment)]);
  const finishTool = completion === "text" ? undefined : tools.find(({ name }) => isFinishTool(name))?.name;
  const chars = system.length + toolText.length;
  const key = prefixKey(assignment.rights, { system, toolText, shared: prompt.slice(0, sharedChars) });
  return { tools, ...defined({ finishTool }), chars, prefix: fork?.prefix ?? { key, chars: chars + sharedChars } };
}

/** The tools that are offered to a model: as a list, and as the JSON text that is sent. */
type WrittenTools = Readonly<{ tools: readonly ToolSpec[]; text: string }>;

const written = (tools: readonly ToolSpec[]): WrittenTools => ({ tools, text: JSON.stringify(tools) });

/** A cache: tasks with the same rights are shown the same tools. */
const shown = new WeakMap<
  HeadParts["rights"],
  WrittenTools & Pick<HeadParts, "toolNames"> & { of: HeadParts["tools"] }
>();

function shownTools({ tools: of, rights, toolNames }: HeadParts): WrittenTools {
  const known = shown.get(rights);
  if (known && known.of === of && known.toolNames === toolNames) return known;
  const made = { ...written(toolSpecs(of, rights, toolNames)), of, ...defined({ toolNames }) };
  shown.set(rights, made);
  return made;
}

/** The beginning that requests share: the system prompt, the tools, and the context of the run. */
type Prefix = Readonly<{ system: string; toolText: string; shared: string }>;

/** Cache: the last beginning of the tasks with these rights, which are mostly tasks of one agent. */
const prefixes = new WeakMap<HeadParts["rights"], Prefix & Readonly<{ key: string }>>();

/** A key for the common beginning of the requests of tasks with the same parent. */
function prefixKey(rights: HeadParts["rights"], { system, toolText, shared }: Prefix): string {
  const known = prefixes.get(rights);
  if (known?.system === system && known.toolText === toolText && known.shared === shared) return known.key;
  const key = hash("sha256", [system, toolText, shared].join("\0"), "hex").slice(0, 32);
  prefixes.set(rights, { system, toolText, shared, key });
  return key;
}
