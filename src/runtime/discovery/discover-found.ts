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
  /** False for agents of an untrusted project: they are only listed. */
  trusted: boolean;
  /** Why the agent is not trusted. */
  distrust?: Distrust;
  file?: string;
  /** The real path of the agent's file, if it differs from `file`. */
  real?: string;
  problems: readonly Problem[];
  /** The agent that this agent extends. */
  base?: FoundAgent;
  /** The origin of the field values that were not simply taken from the file. */
  origins: Origins;
}>;
