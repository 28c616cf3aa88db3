import type { Skill } from "../../core/agent/skill.ts";
import type { GuardedFetch } from "../../runtime/network/guarded-fetch.ts";
import type { ProjectRuns } from "../../runtime/resume/project-runs.ts";
import type { Memory } from "../../runtime/store/memory.ts";
import type { SearchBackend } from "./search-backends.ts";

/** Dependencies that the crew passes to its built-in tools at creation. Data of one task is passed with each call. */
export type ToolParts = Readonly<{
  /** The guarded fetch; absent: the public internet, without exceptions. */
  fetch?: GuardedFetch;
  /** The search engine; absent when none is configured. */
  search?: SearchBackend;
  /** Finds skills; absent when there are none. */
  skills?(): Promise<readonly Skill[]>;
  /** The memory; absent when this crew has none. */
  memory?: Memory;
  /** The record of runs; absent when this crew stores none. */
  history?: ProjectRuns;
}>;
