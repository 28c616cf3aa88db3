import type { Agent } from "./agent.ts";
import type { Tool } from "./tool.ts";

/** For whom tools of others are wanted. */
export type PeerAsk = Readonly<{
  agent: Agent;
  run: string;
  /** The tools of whoever started the task: no others can be had. */
  ceiling?: readonly string[];
  /** A rule of the user allows every call of a tool. */
  isTrusted(tool: string): boolean;
  /** Says what a person should know. */
  say(text: string): void;
  signal: AbortSignal;
}>;

/** Tools that programs and machines outside offer while a run lasts: those of MCP servers. */
export type PeerTools = Readonly<{
  /** Those of an agent; a server that cannot be used is said, and its tools are missing. */
  toolsFor(ask: PeerAsk): Promise<readonly Tool[]>;
  /** Ends everything that was started. */
  end(): Promise<void>;
}>;
