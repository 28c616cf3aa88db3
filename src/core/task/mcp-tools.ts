import type { Agent } from "../agent/agent.ts";
import type { Subject } from "../rules/call-subject.ts";
import { stableText } from "../text/stable-text.ts";
import type { Tool } from "./tool.ts";

/** For whom tools of others are wanted. */
export type PeerAsk = Readonly<{
  agent: Agent;
  run: string;
  /** The tools of whoever started the task: no others can be had. */
  ceiling?: readonly string[];
  /** A rule of the user allows every call of a tool. */
  isTrusted(tool: string): boolean;
  /** Says what a person should know, under a code of its own where there is one. */
  say(text: string, code?: string): void;
  signal: AbortSignal;
}>;

/** What a call of one is about: rules see its arguments as one text. */
export const peerSubjects = (input: unknown): readonly Subject[] => [{ kind: "name", name: stableText(input ?? {}) }];

/** Somebody may be asked, and takes the time it takes; the call itself has a clock of its own. */
export const PEER_TOOL_MS = 2 ** 31 - 1;

/** Tools that programs and machines outside offer while a run lasts: those of MCP servers. */
export type PeerTools = Readonly<{
  /** Those of an agent; a server that cannot be used is said, and its tools are missing. */
  toolsFor(ask: PeerAsk): Promise<readonly Tool[]>;
  /** Ends everything that was started. */
  end(): Promise<void>;
}>;
