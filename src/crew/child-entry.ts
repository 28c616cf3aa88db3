import { existsSync } from "node:fs";

/** Child programs started with Node: bundled for a faster start; a task can also run from source. */
export type ChildProgram = "task-child" | "quarantine-child";

/** The file of such a program; `undefined` if it was not built. */
export function childEntry(name: ChildProgram): URL | undefined {
  const places = [`./${name}.js`, `../cli/${name}.js`, `./cli/${name}.js`, `../${name}.js`, `../${name}.ts`];
  return places.map((place) => new URL(place, import.meta.url)).find((url) => existsSync(url));
}
