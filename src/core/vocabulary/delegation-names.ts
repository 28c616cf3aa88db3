/**
 * The delegation tools as models see them, each with its names in other programs. The spelling in an agent's file
 * decides which of them the agent gets; all of them share one permission, `task`.
 */
export const delegationSpellings = {
  task: ["delegate", "new_task", "agent", "subagent", "custom-agent", "runSubagent"],
  Task: ["Agent"],
  spawn_subagent: ["spawn_agent"],
  parallel: [],
  delegate_to_agent: [],
  invoke_agent: [],
  agents: [],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type FacadeName = keyof typeof delegationSpellings;

/** The names of all sets of delegation tools. */
export const facadeNames = Object.keys(delegationSpellings) as readonly FacadeName[];

/**
 * The set of delegation tools that a spelling means; the spelling is exact, because `Task` and `task` mean different
 * sets.
 */
export function facadeOf(spelling: string): FacadeName | undefined {
  return bySpelling.get(spelling);
}

const bySpelling = new Map<string, FacadeName>(
  facadeNames.flatMap((name) => [name, ...delegationSpellings[name]].map((one): [string, FacadeName] => [one, name])),
);
bySpelling.delete("agents"); // the set with one tool per agent is chosen by the program that offers it, never by a tool name in an agent file
