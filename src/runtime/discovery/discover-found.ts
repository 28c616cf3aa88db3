import type { Agent } from "../../core/agent/agent.ts";
import type { ReadAgent } from "../../core/agent/dialect.ts";
import type { Distrust } from "./distrust.ts";
import type { Problem } from "../../core/vocabulary/file-problem.ts";
import type { Origins } from "../../core/vocabulary/provenance.ts";

/** An agent that was found, as it would run. */
export type FoundAgent = Readonly<{
  name: string;
  /** The agent with inherited fields and settings applied. */
  agent: Agent;
  /** The agent as written in its file, before inheritance and settings. */
  read: ReadAgent;
  /** False for files of an untrusted project: they are only listed. */
  trusted: boolean;
  /** Why it is not trusted. */
  distrust?: Distrust;
  file?: string;
  /** The real path of the file, if it differs. */
  real?: string;
  problems: readonly Problem[];
  /** The agent it extends. */
  base?: FoundAgent;
  /** Origins of the fields whose value is not simply the one in the file. */
  origins: Origins;
}>;
