// @ts-check

/**
 * The job of every contender (compared program): a number of agents, each with this prompt and one tool, until all have
 * answered.
 *
 * @typedef {{ baseURL: string, prompt: string, agents: number, separate?: boolean, turns: number, look: (path: string)
 * => string, home: string }} Job `separate`: each agent is a run of its own, where the program has runs
 * @typedef {(job: Job) => Promise<readonly string[]>} Contender the last message of each agent
 */

/**
 * The compared programs. The floor, a minimal hand-written loop over fetch, is the reference for the others. The other
 * floor uses `node:http`, as subcrew does.
 */
export const names = /** @type {const} */ ([
  "floor",
  "http-floor",
  "subcrew",
  "ai-sdk",
  "langgraph",
  "openai-agents",
  "pi-agent-core",
]);
export const peers = names.filter((name) => !name.endsWith("floor") && name !== "subcrew");

export const system = "You look at files and say what is in them. ".repeat(20);
export const tool = { name: "look", description: "looks at a file" };
export const schema = {
  type: "object",
  properties: { path: { type: "string" } },
  required: ["path"],
  additionalProperties: false,
};

/**
 * Runs `one` for all agents of a job at once.
 *
 * @param {Job} job
 * @param {() => Promise<string>} one
 */
export const together = ({ agents }, one) => Promise.all(Array.from({ length: agents }, one));
