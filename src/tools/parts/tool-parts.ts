import type { Skill } from "../../core/agent/skill.ts";
import type { GuardedFetch } from "../../runtime/network/guarded-fetch.ts";
import type { ProjectRuns } from "../../runtime/resume/project-runs.ts";
import type { Memory } from "../../runtime/ledgers/memory.ts";
import type { SearchBackend } from "./search-backends.ts";

/**
 * The parts that the crew passes to its built-in tools when they are created. Data of one task is passed with each
 * call.
 */
export type ToolParts = Readonly<{
  /** The fetch that applies the network rules; absent: tools can reach only the public internet. */
  fetch?: GuardedFetch;
  /** The search engine; absent when none is configured. */
  search?: SearchBackend;
  /** Finds skills; absent when there are none. */
  skills?(): Promise<readonly Skill[]>;
  /** The memory notes, which are kept between runs; absent when this crew stores no notes. */
  memory?: Memory;
  /** The runs of the project; absent when this crew stores no runs. */
  history?: ProjectRuns;
}>;
