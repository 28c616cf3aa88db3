import { cpSync, lstatSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Run } from "../../src/index.ts";
import { tempFolder } from "./temp-folder.ts";

/** The files that a crash at this moment would leave of a run, in a separate home folder. */
export async function killed(run: Run, home: string): Promise<string> {
  const left = tempFolder();
  cpSync(home, left, { recursive: true, filter: (file) => !lstatSync(file).isSocket() }); // Node copies no sockets
  run.cancel();
  await run;
  const folder = join(left, "runs", run.id);
  for (const name of readdirSync(folder)) if (name !== "journal.jsonl") rmSync(join(folder, name), { recursive: true });
  return left;
}
