import { z } from "zod";
import { explain } from "../../core/outcome/outcome.ts";
import type { KeptEvent } from "../../core/run/event.ts";
import { defineTool, type Tool } from "../../core/task/tool.ts";
import type { ToolParts } from "../parts/tool-parts.ts";

/** The maximum length of a line of a tool result. */
const MOST_CHARS = 400;

const input = z.strictObject({
  id: z.string().min(1).describe("a task or a run from task_list, as run_xxxxxxxxxxxx/path or run_xxxxxxxxxxxx"),
});

/** Shows the steps of an earlier task. */
export const taskReplay = (parts: ToolParts = {}): Tool =>
  defineTool({
    name: "task_replay",
    description:
      "Shows what happened in an earlier task of this project: its prompt, its steps and its result. Nothing is run again.",
    input,
    effect: "read",
    does: "read",
    timeoutMs: 30_000,
    async run({ id }) {
      if (!parts.history) return { text: "No runs are stored here, so no earlier tasks are known.", error: true };
      const [run = "", ...rest] = id.split("/");
      const path = rest.join("/");
      const events = await parts.history.events(run);
      const wanted =
        events?.filter((event) => path === "" || event.path === path || event.path.startsWith(`${path}/`)) ?? [];
      if (wanted.length === 0) return { text: `The task "${id}" was not found. See task_list.`, error: true };
      return wanted.flatMap(lineFor).join("\n");
    },
  });

function lineFor(event: KeptEvent): string[] {
  const who = event.path === "" ? "run" : event.path;
  const say = (text: string): string[] => [
    `${who}: ${text.length > MOST_CHARS ? `${text.slice(0, MOST_CHARS)} [...]` : text}`,
  ];
  switch (event.type) {
    case "node.started":
      return event.kind === "task" ? say(`asked (${event.agent ?? "general"}): ${event.prompt ?? ""}`) : [];
    case "turn.ended":
      return event.text === "" ? [] : say(`said: ${event.text}`);
    case "tool.started":
      return say(`used ${event.tool} ${event.preview}`.trimEnd());
    case "tool.ended":
      return say(`${event.tool} ${event.error ? "failed" : "answered"}: ${event.text}`);
    case "tool.denied":
      return say(`was not allowed ${event.tool}`);
    case "tool.rejected":
      return say(`called ${event.tool} wrongly: ${event.reason}`);
    case "tool.unknown":
      return say(`was interrupted in ${event.tool}; its outcome is unknown`);
    case "node.ended":
    case "run.ended":
      return say(`${event.outcome.status}: ${explain(event.outcome)}`);
    default:
      return [];
  }
}
