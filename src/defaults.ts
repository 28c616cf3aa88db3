import type { Engine } from "./core/engine.ts";
import type { Model } from "./core/model.ts";
import type { Runner } from "./core/runner.ts";
import type { Tool } from "./core/tool.ts";
import { localEngine, type LocalParts } from "./engines/local.ts";
import { readBundledAgents } from "./formats/bundled.ts";
import { dialects } from "./formats/table.ts";
import { local } from "./runners/local.ts";
import { discover, type DiscoverOptions, type Discovery } from "./runtime/discover.ts";
import type { ToolParts } from "./tools/parts.ts";
import { builtinTools as toolRows } from "./tools/table.ts";

/** The models that need no key, imported when they are asked for. A row that ends in a colon takes the rest of the name. */
export function builtinModels(cwd: string): Readonly<Record<string, (rest: string) => Promise<Model>>> {
  let scripts: Promise<(file: string) => Promise<Model>> | undefined;
  return {
    offline: async () => (await import("./models/offline.ts")).offline,
    "scripted:": async (file) => {
      scripts ??= import("./models/scripted-file.ts").then(({ createScriptReader }) => createScriptReader(cwd));
      return (await scripts)(file);
    },
  };
}

export const builtinRunner: Runner = local;
export const makeEngine = (parts: LocalParts): Engine => localEngine(parts);

/** Every built-in tool. */
export async function builtinTools(parts: ToolParts): Promise<readonly Tool[]> {
  return Promise.all(Object.values(toolRows).map((load) => load(parts)));
}

/** Finds every agent there is for a folder; the files of a project count as far as they are trusted. */
export function findAgents(where: Omit<DiscoverOptions, "dialects" | "bundled">): Promise<Discovery> {
  return discover({ ...where, dialects, bundled: readBundledAgents() });
}
