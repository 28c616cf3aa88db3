import type { CaseFile } from "./harness.ts";

/** A case in which ours differs from the recorded behaviour, and what says so; `ours` is the value to expect instead. */
export type Deviation = Readonly<{ file: CaseFile; area: string; name: string; why: string; ours?: unknown }>;

/** Every deviation there is. */
export const deviations: readonly Deviation[] = [
  {
    file: "003-pi-parallel",
    area: "output-truncate",
    name: "60KB single line",
    why: "SPEC C16: cut to exactly the limit, not by halving",
    ours: { truncated: true, length: 51_200, first20: "x".repeat(20), last5: "xxxxx" },
  },
  {
    file: "003-pi-parallel",
    area: "git-context",
    name: "schema text says true includes diffStats but code gives branch+status only",
    why: "SPEC C28: true means branch and status; diffStats has to be asked for",
    ours: "## Git Context\n\n**Branch:** main\n\n**Git Status:** (no changes)",
  },
  {
    file: "003-pi-parallel",
    area: "workspace",
    name: "named",
    why: "DESIGN, first page: a project speaks of subcrew throughout, so the folder is called after it",
    ours: {
      prefix: "subcrew-my-custom-team-",
      tasksDir: "tasks",
      artifactsDir: "artifacts",
      exists: true,
      cleaned: true,
    },
  },
  {
    file: "003-pi-parallel",
    area: "workspace",
    name: "unnamed",
    why: "DESIGN, first page: a project speaks of subcrew throughout, so the folder is called after it",
    ours: { prefix: "subcrew-team-<ms>-", tasksDir: "tasks", artifactsDir: "artifacts", exists: true, cleaned: true },
  },
];
