import { runners } from "../../src/runners/table.ts";

/** The table of runners that a task can name; runners that do the same share a row. */
export function runnersTable(): string {
  const named = new Map<string, string[]>();
  for (const [name, { what }] of Object.entries(runners))
    if (what !== undefined)
      named.set(what, [...(named.get(what) ?? []), name === "acp" ? "`acp:COMMAND`" : `\`${name}\``]);
  const rows = Array.from(named, ([what, names]) => `| ${names.join(", ")} | ${what} |`);
  return ["", "| runner | what carries out the task |", "|---|---|", ...rows, ""].join("\n");
}
