import { reveal } from "../../core/text/sanitize.ts";
import { cutHead } from "../../core/text/cut.ts";
import { type GitPlace, openRepository, topOf } from "./git.ts";

/** How long git may take; in a huge repository the state is left out. */
const LIMIT_MS = 3_000;
const NAME_BYTES = 200;

/** The branch of the repository around a folder and its number of changed files, as one line. */
export async function gitState(cwd: string, place: Pick<GitPlace, "home" | "homes"> = {}): Promise<string> {
  const top = await topOf(cwd);
  if (top === undefined) return "not a repository";
  const repository = await openRepository(top, { ...place, signal: AbortSignal.timeout(LIMIT_MS) });
  if (!repository.ok) return "unknown";
  const status = await repository.ask(
    "status",
    "--porcelain=v2",
    "--branch",
    "--no-renames",
    "--ignore-submodules=all",
  );
  if (!status.ok) return "unknown";
  const lines = status.text.split("\n").filter((line) => line !== "");
  const headOf = (name: string): string =>
    lines.find((line) => line.startsWith(`# branch.${name} `))?.slice(9 + name.length) ?? "";
  const head = headOf("head").trim();
  const branch = cutHead(reveal(head), NAME_BYTES).text;
  const changed = lines.filter((line) => !line.startsWith("# ")).length;
  const state =
    changed === 0 ? "no changes" : `${changed}${status.cut ? " or more" : ""} changed file${changed === 1 ? "" : "s"}`;
  return head === "(detached)"
    ? `detached at ${headOf("oid").trim().slice(0, 10)}, ${state}`
    : `branch ${branch}, ${state}`;
}
