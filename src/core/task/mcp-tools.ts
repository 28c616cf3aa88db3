import type { Agent } from "../agent/agent.ts";
import type { Subject } from "../rules/call-subject.ts";
import { stableText } from "../text/stable-text.ts";
import type { Tool } from "./tool.ts";

/** The agent for which MCP tools are requested, and its limits. */
export type PeerAsk = Readonly<{
  agent: Agent;
  run: string;
  /** The tools of the parent task: an upper bound. */
  ceiling?: readonly string[];
  /** True if a rule of the user allows every call of the tool. */
  isTrusted(tool: string): boolean;
  /** Reports a warning to the user, with a code if there is one. */
  say(text: string, code?: string): void;
  /** Reports something to the user that is not a problem. */
  note(text: string): void;
  /** Creates the signal that limits the time for all servers; called only when a server is asked. */
  signal(): AbortSignal;
}>;

/** The subject of a call to an MCP tool: permission rules match its arguments as one text. */
export const peerSubjects = (input: unknown): readonly Subject[] => [{ kind: "name", name: stableText(input ?? {}) }];

/**
 * Timeout of an MCP tool in the loop that executes tool calls: unlimited, since a call may wait for an approval. The
 * request itself has its own timeout.
 */
export const PEER_TOOL_MS = 2 ** 31 - 1;

/** Tools of MCP servers, available during a run. */
export type PeerTools = Readonly<{
  /** The MCP tools of an agent; a server that cannot be used is reported, and its tools are missing. */
  toolsFor(ask: PeerAsk): Promise<readonly Tool[]>;
  /** Stops all MCP servers. */
  end(): Promise<void>;
}>;
