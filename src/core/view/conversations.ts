import type { State } from "../run/state.ts";

/** A conversation: messages that continue each other. Each message is a run of its own. */
export type KeptConversation = Readonly<{
  /** The run of the last message; a new message continues this run. */
  last: string;
  /** The first message of the conversation. */
  title: string;
  agent: string | undefined;
  messages: number;
  /** When the last message was sent. */
  at: number;
  cwd: string;
  /** The texts of all messages and answers. */
  texts: readonly string[];
}>;

/** The conversations among runs, the newest first. A run with several tasks is not a message. */
export function conversationsOf(states: readonly State[]): KeptConversation[] {
  const byId = new Map(states.filter(isMessage).map((state) => [state.run, state]));
  const continued = new Set(Array.from(byId.values(), ({ continues }) => continues?.split("/", 1)[0]));
  return [...byId.values()]
    .filter(({ run }) => !continued.has(run))
    .map((last) => conversationEndingWith(last, byId))
    .toSorted((a, b) => b.at - a.at);
}

/** The conversations in which every word occurs. */
export function searchConversations(all: readonly KeptConversation[], words: string): KeptConversation[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  return all.filter(({ texts, last, agent = "" }) => {
    const text = [last, agent, ...texts].join("\n").toLowerCase();
    return wanted.every((word) => text.includes(word));
  });
}

function isMessage({ plan }: State): boolean {
  const nodes = Object.values(plan?.nodes ?? {}).filter(({ kind }) => kind !== "join");
  return nodes.length === 1 && nodes[0]!.kind === "task";
}

function conversationEndingWith(last: State, byId: ReadonlyMap<string, State>): KeptConversation {
  const chain = [last];
  for (let before = last.continues; before !== undefined; before = chain[0]!.continues) {
    const state = byId.get(before.split("/", 1)[0]!);
    if (!state || chain.includes(state)) break;
    chain.unshift(state);
  }
  const said = chain.flatMap((state) => [promptOf(state), answerOf(state)]);
  const task = taskOf(last);
  return {
    last: last.run,
    title: promptOf(chain[0]!),
    agent: task?.agent,
    messages: chain.length,
    at: last.startedAt,
    cwd: last.cwd,
    texts: said,
  };
}

function taskOf({ plan }: State) {
  const node = Object.values(plan?.nodes ?? {}).find(({ kind }) => kind === "task");
  return node?.kind === "task" ? node.task : undefined;
}

const promptOf = (state: State): string => taskOf(state)?.prompt ?? "";

const answerOf = ({ outcome }: State): string => (outcome && "output" in outcome ? (outcome.output ?? "") : "");
