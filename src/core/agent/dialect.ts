import type { Problem } from "../vocabulary/file-problem.ts";
import type { Agent, AgentSource } from "./agent.ts";

/**
 * One file format of agent definitions. Reading a file has no side effects: text goes in, agents and problems come out,
 * and nothing is thrown.
 */
export type Dialect = Readonly<{
  id: string;
  /** True for a file name that may contain agents. */
  accepts(name: string): boolean;
  read(text: string, place: FilePlace): ParsedFile;
  /** The line of a key, counted from 1; only the commands `explain` and `lint` use it. */
  lineOf?(text: string, field: string): number | undefined;
}>;

/** Information about a file besides its text. */
export type FilePlace = Readonly<{
  file: string;
  /** The file's path below the directory that was searched, with slashes. */
  relative: string;
  /** The source that the agents in the file get. */
  source?: AgentSource | undefined;
  /** Reads another file that this file refers to, if it is in an allowed place. */
  include?(path: string): string | undefined;
}>;

/** The result of reading one file. A file with an agent may still have problems. */
export type ParsedFile = Readonly<{ agents: readonly ReadAgent[]; problems: readonly Problem[] }>;

/** An agent as defined in its file, before settings and inheritance. */
export type ReadAgent = Readonly<{
  agent: Agent;
  /** The key of the file that each field came from. */
  from: Readonly<Record<string, string>>;
  /**
   * The file's own data, with the spellings of the program it was written for, including keys that have no effect in
   * subcrew.
   */
  raw: Readonly<Record<string, unknown>>;
  /** Keys that are kept and have no effect in subcrew. */
  kept: readonly string[];
  /** True: the file had to be repaired before it could be read. */
  recovered?: true;
  /** True: the file itself disables the agent. */
  disabled?: true;
  /** Other names for the agent that its file format defines. */
  aliases?: readonly string[];
}>;

/** Every file format by its id. */
export type Dialects = Readonly<Record<string, Dialect>>;
