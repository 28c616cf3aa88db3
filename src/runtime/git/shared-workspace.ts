import { mkdtemp, rm } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join, relative, sep } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import type { RunOutputs } from "../../core/run/run-store.ts";
import { attemptPath } from "../../core/plan/isolation.ts";
import type { Call, PerformContext } from "../../core/task/engine.ts";
import type { JobWorkspace } from "../../core/task/job.ts";
import { readRegularFile } from "../disk/regular-file.ts";
import { workspaceOf } from "../files/workspace-of.ts";
import { topOf } from "./git.ts";
import { captureDirty, openOrigin, type SourceTree } from "./worktree.ts";

/** Converts bytes to a text for the store. */
export const packed = (bytes: Buffer): string => gzipSync(bytes).toString("base64");
export const unpacked = (text: string): Buffer => gunzipSync(Buffer.from(text, "base64"));

/** Names that all clones of a repository share: its first commits. */
export async function repositoryNames(folder: string, home: string | undefined): Promise<readonly string[]> {
  const top = await topOf(folder);
  const origin = top === undefined ? undefined : await openOrigin(top, undefined, home);
  if (!origin || "unable" in origin) return [];
  const roots = await origin.repository.ask("rev-list", "--max-parents=0", "HEAD");
  return roots.ok ? roots.text.split("\n").filter((line) => /^[0-9a-f]{40,64}$/.test(line)) : [];
}

/** The workspace at a folder, with the data that other machines need to fetch it. */
export async function sharedWorkspace(folder: string, home: string | undefined): Promise<JobWorkspace> {
  const [known, repositories] = await Promise.all([workspaceOf(folder), repositoryNames(folder, home)]);
  return { ...known, host: hostname(), ...(repositories.length > 0 && { repositories }) };
}

/** The work tree that a task uses on the machine that started the run. */
export async function treeOfCall(
  { worktree }: Pick<Call, "worktree">,
  cwd: string,
  home: string | undefined,
): Promise<SourceTree | Readonly<{ unable: string }>> {
  const top = worktree?.of ?? (await topOf(cwd));
  if (top === undefined) return { unable: `${cwd} is not in a git repository` };
  return openOrigin(top, worktree && { folder: worktree.top, gitDir: worktree.gitDir }, home);
}

/**
 * Describes the workspace for a worker that lacks the files: the commit, and the uncommitted changes and missing
 * commits, which are put into the store.
 */
export function workspaceSharer({
  cwd,
  home,
  store,
}: Readonly<{ cwd: string; home: string | undefined; store: Pick<RunOutputs, "keep"> }>): (
  call: Call,
) => NonNullable<PerformContext["workspace"]> {
  return (call) => async (have) => {
    const origin = await treeOfCall(call, cwd, home);
    if ("unable" in origin) return origin;
    const { repository, tree, top } = origin;
    const head = await repository.work(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"], tree);
    if (!head.ok) return { unable: "the repository has no commit yet" };
    const folder = await mkdtemp(join(tmpdir(), "subcrew-share-"));
    try {
      const keep = async (file: string, kind: "dirty" | "bundle"): Promise<string> =>
        (await store.keep(call.run, attemptPath(call), packed(await readRegularFile(file, MOST_BYTES)), kind)).hash;
      const patch = join(folder, "dirty.patch");
      const dirty = await captureDirty(origin, join(folder, "work"), patch);
      if (typeof dirty === "object") return dirty;
      const stored: { dirty?: string; bundle?: string } = {};
      if (dirty) stored.dirty = await keep(patch, "dirty");
      if (have) {
        const bundle = join(folder, "commits.bundle");
        const known = await knownCommits(origin, have);
        const made = await repository.work(
          ["bundle", "create", "--quiet", bundle, "HEAD", ...known.map((one) => `^${one}`)],
          tree,
        );
        if (!made.ok) return { unable: made.reason };
        stored.bundle = await keep(bundle, "bundle");
      }
      const { id } = await workspaceOf(cwd);
      const prefix = relative(top, id).split(sep).join("/");
      return { commit: head.text.trim(), prefix, ...stored };
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  };
}

async function knownCommits({ repository }: SourceTree, names: readonly string[]): Promise<readonly string[]> {
  const known: string[] = [];
  for (const name of names.slice(0, MOST_HAVES)) {
    if (!/^[0-9a-f]{40,64}$/.test(name)) continue;
    if ((await repository.ask("cat-file", "-e", `${name}^{commit}`)).ok) known.push(name);
  }
  return known;
}

export const MOST_HAVES = 50;
/** The largest patch or bundle that is sent. */
export const MOST_BYTES = 2 ** 29;
