import type { Event } from "../core/run/event.ts";
import { deniedText } from "../core/run/kept-event.ts";
import { isRecord, ownEntry } from "../core/text/json.ts";
import { canonicalName } from "../core/vocabulary/tool-names.ts";
import type { SessionUpdate, ToolKind } from "./sdk.ts";

/** Converts the events of a run to updates for an editor. */
export type UpdateWriter = Readonly<{
  /** The updates to send to the editor for an event. */
  of(event: Event): readonly SessionUpdate[];
  /** The tool and the input of a tool call. */
  callOf(path: string, call: string): KnownCall | undefined;
  /** The text of the answer that was sent to the editor since this function was last called. */
  said(): string;
}>;

export type KnownCall = Readonly<{ tool: string; input: unknown }>;

const kinds: Readonly<Record<string, ToolKind>> = {
  read_file: "read",
  list_files: "search",
  glob: "search",
  grep_files: "search",
  write_file: "edit",
  edit_file: "edit",
  delete_file: "delete",
  move_file: "move",
  bash: "execute",
  todo: "think",
  web_search: "fetch",
};

export function kindOf(tool: string): ToolKind {
  const name = canonicalName(tool) ?? tool;
  return ownEntry(kinds, name) ?? (/^(http|web)_/.test(name) ? "fetch" : "other");
}

/**
 * The id of a tool call for the editor. It includes the task, because tool calls of different tasks may have the same
 * id.
 */
export const callIdOf = (path: string, call: string): string => `${path}#${call}`;

/**
 * Creates a writer. Text is sent for the main agent only; tool calls also for its subagents, prefixed with their names.
 */
export function createUpdateWriter(): UpdateWriter {
  const calls = new Map<string, KnownCall>();
  const streamed = new Set<string>();
  let said = "";
  return {
    said: () => said,
    callOf: (path, call) => calls.get(callIdOf(path, call)),
    of: (event) => {
      const isMain = !event.path.includes("/");
      switch (event.type) {
        case "text.delta":
          if (!isMain) return [];
          streamed.add(event.path);
          said += event.text;
          return [{ sessionUpdate: "agent_message_chunk", content: { type: "text", text: event.text } }];
        case "thinking.delta":
          if (!isMain) return [];
          return [{ sessionUpdate: "agent_thought_chunk", content: { type: "text", text: event.text } }];
        case "turn.ended": {
          for (const { id, name, input } of event.calls) calls.set(callIdOf(event.path, id), { tool: name, input });
          const whole = isMain && !streamed.delete(event.path) && event.text !== ""; // the model did not stream its answer, so the whole text is sent at its end
          if (whole) said += event.text;
          if (isMain && event.calls.length > 0) said = "";
          return whole ? [{ sessionUpdate: "agent_message_chunk", content: { type: "text", text: event.text } }] : [];
        }
        case "tool.started": {
          const input = calls.get(callIdOf(event.path, event.call))?.input;
          const title = `${isMain ? "" : `${event.path.split("/").at(-1)}: `}${event.tool} ${event.preview}`.trimEnd();
          return [
            {
              sessionUpdate: "tool_call",
              toolCallId: callIdOf(event.path, event.call),
              title,
              kind: kindOf(event.tool),
              status: "in_progress",
              ...(input !== undefined && { rawInput: input }),
              ...pathsIn(input),
            },
          ];
        }
        case "tool.ended":
          return [ending(event.path, event.call, event.error ? "failed" : "completed", event.text)];
        case "tool.denied":
          return [ending(event.path, event.call, "failed", deniedText(event))];
        case "tool.rejected":
        case "tool.unknown":
          return [ending(event.path, event.call, "failed", event.text)];
        default:
          return [];
      }
    },
  };
}

const ending = (path: string, call: string, status: "completed" | "failed", text: string): SessionUpdate => ({
  sessionUpdate: "tool_call_update",
  toolCallId: callIdOf(path, call),
  status,
  content: [{ type: "content", content: { type: "text", text } }],
});

function pathsIn(input: unknown): { locations?: { path: string }[] } {
  const path = isRecord(input) ? input["path"] : undefined;
  return typeof path === "string" && path !== "" ? { locations: [{ path }] } : {};
}
