import { z } from "zod";
import type { RunStatus } from "../../core/run/run-status.ts";
import { defineTool, type Tool } from "../../core/task/tool.ts";
import type { ToolParts } from "../parts/tool-parts.ts";

const LIMIT = 20;

/** The word for each state of a run in the tool's output: running, done or failed. */
const statusOf: Readonly<Record<RunStatus, string>> = {
  starting: "in_progress",
  running: "in_progress",
  waiting: "in_progress",
  parked: "parked",
  paused: "paused",
  interrupted: "interrupted",
  ok: "completed",
  failed: "failed",
  cancelled: "cancelled",
};

const input = z.strictObject({
  status: z
    .enum(["in_progress", "parked", "paused", "interrupted", "completed", "failed", "cancelled"])
    .optional()
    .describe("only runs with this status"),
  limit: z.number().int().min(1).max(100).optional().describe(`maximum number (default: ${LIMIT})`),
});

/** Lists the earlier tasks of this project. */
export const taskList = (parts: ToolParts = {}): Tool =>
  defineTool({
    name: "task_list",
    description: "Lists the runs of this project, newest first, with their tasks and how each ended.",
    input,
    effect: "read",
    does: "read",
    timeoutMs: 30_000,
    async run({ status, limit = LIMIT }) {
      if (!parts.history) return { text: "No runs are stored here, so no earlier tasks are known.", error: true };
      const runs = (await parts.history.list(limit)).filter(
        ({ life }) => status === undefined || statusOf[life] === status,
      );
      if (runs.length === 0) return "[no tasks]";
      return runs
        .map(({ id, name, life, startedAt, tasks }) => {
          const head = `${id}  ${statusOf[life]}  ${new Date(startedAt).toISOString()}${name === undefined ? "" : `  ${name}`}`;
          return [
            head,
            ...tasks.map(({ path, agent = "general", status: how }) => `  ${id}/${path}  ${agent}  ${how}`),
          ].join("\n");
        })
        .join("\n");
    },
  });
