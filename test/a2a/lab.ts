import { createCrew, defineAgent, type Agent, type Crew, type CrewOptions, type Event, type Run } from "../../src/index.ts";
import type { Answer } from "../../src/core/gate.ts";
import { tempFolder } from "../support/temp-folder.ts";

type RemotePlace = NonNullable<Agent["remote"]>;

/** An agent that is somewhere else. */
export const remoteAgent = (name: string, remote: RemotePlace, more: Partial<Agent> = {}): Agent =>
  defineAgent({ name, description: `${name}, elsewhere`, instructions: "", remote, ...more });

export const PATH = "/usr/local/bin:/usr/bin:/bin";

/** A crew that may reach these hosts on this machine and send tasks there. */
export function crewFor(hosts: readonly string[], options: CrewOptions = {}): Crew {
  return createCrew({
    cwd: tempFolder(),
    home: tempFolder(),
    discover: false,
    env: { PATH, HOME: tempFolder() },
    permissions: { allow: ["a2a"] },
    network: { allowHosts: hosts },
    ...options,
  });
}

/** Listens to a run until its end, and answers what it asks. */
export async function listen(run: Run, answer?: (question: string) => Answer | undefined): Promise<Event[]> {
  const events: Event[] = [];
  for await (const event of run) {
    events.push(event);
    const said = event.type === "gate.opened" ? answer?.(event.question) : undefined;
    if (event.type === "gate.opened" && said) await run.answer(event.path, said, event.call);
  }
  await run;
  return events;
}
