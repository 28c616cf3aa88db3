import { existsSync } from "node:fs";

/** Child programs started with Node: they are bundled for a faster start, and `task-child` can also run from source. */
export type ChildProgram = "task-child" | "quarantine-child";

/** The file of a child program; `undefined` if the program was not built. */
export function childEntry(name: ChildProgram): URL | undefined {
  const places = [`./${name}.js`, `../cli/${name}.js`, `./cli/${name}.js`, `../${name}.js`, `../${name}.ts`];
  return places.map((place) => new URL(place, import.meta.url)).find((url) => existsSync(url));
}
