import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { CrewError, messageOf } from "../core/schema/error.ts";
import type { Tool } from "../core/task/tool.ts";
import { isRecord } from "../core/text/json.ts";

/**
 * The tools that a module exports, alone, in a list or by name. This runs the module's code, so it is used only for
 * files that the user named.
 */
export async function loadToolModule(file: string, cwd: string): Promise<readonly Tool[]> {
  const url = file.startsWith("file:") ? file : pathToFileURL(resolve(cwd, file)).href;
  const exported = await import(url).catch((cause: unknown) => {
    throw new CrewError(
      "BAD_FILE",
      `The tools of ${file} cannot be loaded: ${messageOf(cause)}`,
      "Correct the module.",
      { cause },
    );
  });
  const tools = [...new Set(Object.values(exported as object).flat())].filter(isTool);
  if (tools.length > 0) return tools;
  throw new CrewError(
    "BAD_FILE",
    `${file} exports no tool.`,
    "Export the result of defineTool({ name, description, input, effect, run }).",
  );
}

function isTool(value: unknown): value is Tool {
  return (
    isRecord(value) &&
    typeof value["name"] === "string" &&
    isRecord(value["input"]) &&
    typeof value["run"] === "function" &&
    (value["effect"] === "read" || value["effect"] === "write")
  );
}
