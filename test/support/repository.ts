import { execFileSync, spawnSync } from "node:child_process";
import { tempFolder } from "./temp-folder.ts";

/**
 * A folder with a repository in which these shell lines were run, with a plain `git` and without subcrew's protections.
 */
export function repository(...lines: readonly string[]): string {
  const folder = tempFolder();
  for (const line of ["git init -q -b main", ...lines]) shell(folder, line);
  return folder;
}

/** Runs a shell line as the author of the test repository and returns its output. */
export function shell(cwd: string, line: string): string {
  return execFileSync("/bin/sh", ["-ec", line], { cwd, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

/** Runs a shell line that may fail: only its effect on the disk matters. */
export function tryShell(cwd: string, line: string): void {
  spawnSync("/bin/sh", ["-c", line], { cwd, env, stdio: "ignore", timeout: 120_000 });
}

const env = {
  PATH: "/usr/local/bin:/usr/bin:/bin",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_AUTHOR_NAME: "A",
  GIT_AUTHOR_EMAIL: "a@example.com",
  GIT_COMMITTER_NAME: "A",
  GIT_COMMITTER_EMAIL: "a@example.com",
};
