import { type FacadeName, facadeOf } from "../core/delegation-names.ts";
import type { Caller } from "../core/spawn.ts";
import type { Tool } from "../core/tool.ts";
import type { Facade } from "./facade.ts";
import { task } from "./task.ts";

/** Every set of delegation tools; a new one is one file and one row. */
const facades: Readonly<Partial<Record<FacadeName, Facade>>> = { task };

/** The delegation tools of somebody, as it spells them. */
export function delegationTools(spellings: readonly string[], caller: Caller): readonly Tool[] {
  const tools = new Map<string, Tool>();
  for (const spelling of spellings) {
    const facade = facades[facadeOf(spelling) ?? "task"];
    for (const tool of facade?.tools(caller, spelling) ?? []) tools.set(tool.name, tool);
  }
  return [...tools.values()];
}
