import type { Outcome } from "../outcome/outcome.ts";
import { defined } from "../text/defined.ts";
import type { DelegationOutcome, ReadDelegation } from "./engine.ts";

/**
 * Creates a file on this machine with the output of the task at a path, so that an agent can read it; `undefined`: this
 * store creates no files.
 */
export type MakeOutputFile = (path: string, outcome: Outcome) => Promise<string | undefined>;

/**
 * The outcome of a delegation for the agent that requested it: the full output of every task is in a file of this
 * machine.
 */
export async function readDelegation(delegated: DelegationOutcome, makeFile: MakeOutputFile): Promise<ReadDelegation> {
  const { nodes = {}, under = "" } = delegated;
  const read = Object.entries(nodes).map(async ([id, outcome]) => {
    const file = outcome.artifact && (await makeFile(under + id, outcome).catch(() => undefined));
    return [id, { ...outcome, ...defined({ file }) }] as const;
  });
  return { ...delegated, nodes: Object.fromEntries(await Promise.all(read)) };
}
