import { existsSync } from "node:fs";

/** The programs that this one starts with Node: bundled, since that starts faster; a task can also begin as a source. */
export type ChildProgram = "task-child" | "quarantine-child";

/** Where such a program is; `undefined` where nothing was built. */
export function childEntry(name: ChildProgram): URL | undefined {
  const places = [`./${name}.js`, `../cli/${name}.js`, `./cli/${name}.js`, `../${name}.js`, `../${name}.ts`];
  return places.map((place) => new URL(place, import.meta.url)).find((url) => existsSync(url));
}
