import { hash } from "node:crypto";
import type { Agent } from "../../core/agent/agent.ts";
import type { KeptEvent } from "../../core/run/event.ts";
import { stableText } from "../../core/text/stable-text.ts";

/** An agent as recorded by a run: its definition, its tools and its model. */
export type RecordedAgent = Readonly<{
  hash: string;
  definition: Agent;
  rights: readonly string[];
  model: string;
  /** The key under which the result of the agent's task can be reused. */
  reuse?: string | undefined;
}>;

/** The agents that a journal recorded. */
export type RecordedAgents = Readonly<{
  /** The agent of the task at this path. */
  at(path: string): RecordedAgent | undefined;
  /** The agent of this name that the run carries, or the latest that one of its tasks had. */
  named(name: string): Pick<RecordedAgent, "definition"> | undefined;
}>;

/** Collects the recorded agents from the events of a run; `carried`: the agents that the run carries. */
export function recordedAgents(
  events: readonly KeptEvent[],
  carried: ReadonlyMap<string, Agent> = new Map(),
): RecordedAgents {
  const known = new Map<string, Omit<RecordedAgent, "model" | "reuse">>();
  const paths = new Map<string, RecordedAgent>();
  const names = new Map<string, RecordedAgent>();
  for (const event of events) {
    if (event.type !== "agent.resolved") continue;
    const { hash, definition, rights, model, reuse } = event;
    if (definition && rights) known.set(hash, { hash, definition, rights });
    const agent = known.get(hash);
    if (!agent) continue;
    paths.set(event.path, { ...agent, model, reuse });
    names.set(event.agent, { ...agent, model });
  }
  return {
    at: (path) => paths.get(path),
    named: (name) => {
      const definition = carried.get(name);
      return definition ? { definition } : names.get(name);
    },
  };
}

/** Hash of an agent with its permissions, without its file path. */
export function agentHash(definition: Agent, rights: readonly string[]): string {
  const known = hashes.get(definition) ?? new Map<string, string>();
  hashes.set(definition, known);
  const sorted = sortedText(rights);
  const hash = known.get(sorted) ?? sha256(`{"definition":${essenceText(definition)},"rights":${sorted}}`);
  known.set(sorted, hash);
  return hash;
}

function sortedText(rights: readonly string[]): string {
  const text = sortedTexts.get(rights) ?? stableText([...rights].toSorted());
  sortedTexts.set(rights, text);
  return text;
}

/** True when the agent has changed since it was recorded. */
export function isChanged(before: Agent, now: Agent): boolean {
  return essenceText(before) !== essenceText(now);
}

/** Cache: agents are never changed, and all tasks of one agent share the same object. */
const texts = new WeakMap<Agent, string>();
const hashes = new WeakMap<Agent, Map<string, string>>();
/** Cache: all tasks with the same rights share the same list. */
const sortedTexts = new WeakMap<readonly string[], string>();

function essenceText(agent: Agent): string {
  const text = texts.get(agent) ?? stableText(essence(agent));
  texts.set(agent, text);
  return text;
}

/** The SHA-256 hash of a text, in hex. */
export function sha256(text: string): string {
  return hash("sha256", text, "hex");
}

/** The recorded form of an agent: without credentials of remote agents. */
export function withoutAuth(agent: Agent): Agent {
  if (agent.remote?.auth === undefined) return agent;
  const { auth: _auth, ...remote } = agent.remote;
  return { ...agent, remote };
}

/** A recorded agent with the current credentials, if the address is the same. */
export function withAuthOf(recorded: Agent, now: Agent | undefined): Agent {
  const { remote } = recorded;
  const same =
    remote?.cardUrl === now?.remote?.cardUrl &&
    remote?.cardJson === now?.remote?.cardJson &&
    remote?.signedBy === now?.remote?.signedBy;
  return remote && now?.remote?.auth && same ? { ...recorded, remote: { ...remote, auth: now.remote.auth } } : recorded;
}

/** The fields of an agent that change its behaviour, for comparisons. */
function essence(agent: Agent): unknown {
  const { source: _source, documentation: _documentation, ...rest } = withoutAuth(agent);
  return JSON.parse(JSON.stringify(rest)) as unknown; // converted as in a journal, so that both can be compared
}
