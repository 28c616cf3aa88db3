import { createHash, randomBytes } from "node:crypto";
import { lstatSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { readRegularTextSync } from "../../runtime/disk/regular-file.ts";
import { isRecord, parseJson } from "../../core/text/json.ts";

/** Creates a private folder for a team: results go to `tasks`, everything else to `artifacts`. */
export function createWorkspace(teamName?: string, rootDir: string = tmpdir()): Workspace {
  mkdirSync(rootDir, { recursive: true, mode: PRIVATE_FOLDER });
  const name = teamName ? teamName.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, TEAM_CHARS) : `team-${Date.now()}`;
  const root = mkdtempSync(join(rootDir, `${PREFIX}${name}-`));
  const workspace = { root, tasksDir: join(root, "tasks"), artifactsDir: join(root, "artifacts") };
  mkdirSync(workspace.tasksDir, { mode: PRIVATE_FOLDER });
  mkdirSync(workspace.artifactsDir, { mode: PRIVATE_FOLDER });
  return workspace;
}

/**
 * Atomically writes the result of a task to `tasks/<id>.json`. Writing an id again replaces its file; two ids never
 * share a file, even if their file names would be equal.
 */
export function writeTaskResult(workspace: Workspace, taskId: string, output: string, status: TaskResultStatus): void {
  if (!lstatSync(workspace.tasksDir).isDirectory()) throw new Error(`${workspace.tasksDir} is not a folder`);
  const target = fileFor(workspace, taskId);
  const draft = join(workspace.tasksDir, `.${randomBytes(8).toString("hex")}.tmp`);
  const result = { id: taskId, status, output, timestamp: Date.now() };
  try {
    writeFileSync(draft, `${JSON.stringify(result, null, 2)}\n`, { flag: "wx", mode: PRIVATE_FILE, flush: true });
    renameSync(draft, target);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

/** Removes a workspace with all its contents; symbolic links in it are removed, not followed. */
export function cleanupWorkspace(workspace: Workspace): void {
  if (!basename(workspace.root).startsWith(PREFIX)) throw new Error(`${workspace.root} is not a workspace`);
  rmSync(workspace.root, { recursive: true, force: true });
}

/** The folder that the members of a team share. */
export type Workspace = Readonly<{ root: string; tasksDir: string; artifactsDir: string }>;
/** How a task ended, as its result file states it. */
export type TaskResultStatus = "completed" | "failed";

const PREFIX = "subcrew-";
const PRIVATE_FOLDER = 0o700;
const PRIVATE_FILE = 0o600;
const TEAM_CHARS = 30;
const NAME_CHARS = 100;

/** The documented file name, unless another id already uses it; then a name with a hash of the id. */
function fileFor({ tasksDir }: Workspace, taskId: string): string {
  const name = fileName(taskId);
  for (let round = 0; ; round++) {
    const hash = createHash("sha256").update(`${round}:${taskId}`).digest("hex").slice(0, 12);
    const file = join(tasksDir, round === 0 ? `${name}.json` : `${name}-${hash}.json`);
    if (isFreeFor(file, taskId)) return file;
  }
}

function isFreeFor(file: string, taskId: string): boolean {
  const there = lstatSync(file, { throwIfNoEntry: false });
  if (there === undefined) return true;
  return there.isFile() && idIn(file) === taskId;
}

/** The id in a result file. Team members can write to this folder, too, so an invalid file is ignored. */
function idIn(file: string): string | undefined {
  try {
    const result: unknown = parseJson(readRegularTextSync(file));
    return isRecord(result) && typeof result.id === "string" ? result.id : undefined;
  } catch {
    return undefined;
  }
}

function fileName(text: string): string {
  return text.replace(/[^A-Za-z0-9_.-]/g, "_").slice(0, NAME_CHARS) || "_";
}
