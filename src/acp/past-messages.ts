import type { State } from "../core/run/state.ts";
import type { Crew } from "../crew/crew-type.ts";

/** One message of an earlier conversation, and the answer to it. */
export type PastMessage = Readonly<{ run: string; prompt: string; answer: string }>;

/** The messages of a session in order; empty for an unknown session. The id of a session is the id of its first run. */
export async function pastMessages({ kept }: Crew, session: string): Promise<readonly PastMessage[]> {
  const runs = new Map((await kept.list({ all: true })).map(({ id, state }) => [id, state]));
  const after = new Map<string, string>();
  // Runs are listed newest first. When a message was sent twice, only the newest run that continues it counts.
  for (const [id, { continues }] of runs) {
    const before = continues?.split("/")[0];
    if (before !== undefined && !after.has(before)) after.set(before, id);
  }
  const messages: PastMessage[] = [];
  const seen = new Set<string>();
  for (let id: string | undefined = session; id !== undefined && !seen.has(id); id = after.get(id)) {
    seen.add(id);
    const state = runs.get(id);
    if (!state?.plan) break;
    messages.push({ run: id, prompt: promptIn(state), answer: answerIn(state) });
  }
  return messages;
}

function promptIn({ plan }: State): string {
  const node = plan && Object.values(plan.nodes)[0];
  return node?.kind === "task" ? node.task.prompt : "";
}

const answerIn = ({ outcome }: State): string => (outcome && "output" in outcome ? (outcome.output ?? "") : "");
