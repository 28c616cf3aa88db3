import type { Model } from "../../core/model/model.ts";

/**
 * The models that need no key, imported when they are asked for. An entry that ends in a colon is a prefix: its
 * function gets the rest of the name.
 */
export function builtinModels(cwd: string): Readonly<Record<string, (rest: string) => Promise<Model>>> {
  let scripts: Promise<(file: string) => Promise<Model>> | undefined;
  return {
    offline: async () => (await import("../offline/offline.ts")).offline,
    "scripted:": async (file) => {
      scripts ??= import("../scripted/scripted-file.ts").then(({ createScriptReader }) => createScriptReader(cwd));
      return (await scripts)(file);
    },
  };
}
