import type { Skill } from "../../core/agent/skill.ts";
import type { GuardedFetch } from "../../runtime/network/guarded-fetch.ts";
import type { ProjectRuns } from "../../runtime/resume/project-runs.ts";
import type { Memory } from "../../runtime/store/memory.ts";
import type { SearchBackend } from "./search-backends.ts";

/** What the crew passes to its built-in tools at creation; what belongs to one task is passed with each call. */
export type ToolParts = Readonly<{
  /** Absent: the public internet, without exceptions. */
  fetch?: GuardedFetch;
  /** Absent: no search engine was configured. */
  search?: SearchBackend;
  /** Looks for skills; absent: there are none. */
  skills?(): Promise<readonly Skill[]>;
  /** Absent: this crew keeps nothing. */
  memory?: Memory;
  /** Absent: this crew keeps no runs. */
  history?: ProjectRuns;
}>;
