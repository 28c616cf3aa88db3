// @ts-check
import * as library from "../../../dist/lib/index.js";
import { schema, system, tool } from "../job.mjs";

const { createCrew, defineAgent, defineTool } = /** @type {typeof import("../../../src/index.ts")} */ (
  /** @type {unknown} */ (library)
);

/**
 * Subcrew in its default use: one run with a journal in a folder, a listener for every event, and limits on turns,
 * time, calls and tokens.
 *
 * @type {import("../job.mjs").Contender}
 */
export const run = async ({ baseURL, prompt, agents, separate = false, turns, look, home }) => {
  const crew = createCrew({
    home,
    cwd: home,
    agents: [defineAgent({ name: "looker", description: "looks at files", instructions: system, tools: ["look"] })],
    tools: [
      defineTool({
        ...tool,
        input: schema,
        effect: "read",
        run: (input) => look(/** @type {{ path: string }} */ (input).path),
      }),
    ],
    providers: { house: { baseURL, apiKey: "key-of-the-house" } },
    model: "house/m",
    env: { HOME: home },
  });
  const task = { agent: "looker", task: prompt, resourceLimits: { maxTurns: turns + 2, maxDurationMs: 600_000 } };
  const limits = {
    concurrency: agents,
    maxTimeMs: 600_000,
    budget: { maxTokens: 1e9, maxToolCalls: 1e6, maxTurns: 1e6 },
  };
  const single = /** @type {const} */ ({ mode: "single", ...task });
  if (agents === 1 || separate) {
    const runs = Array.from({ length: agents }, () => result(crew.run(single, limits)));
    return (await Promise.all(runs)).map(({ output }) => output);
  }
  const tasks = Array.from({ length: agents }, (_, n) => ({ ...task, name: `t${n}` }));
  const { nodes } = await result(crew.run({ mode: "parallel", tasks }, limits));
  return Object.entries(nodes).flatMap(([path, node]) =>
    /^t\d+$/.test(path) && "output" in node ? [node.output ?? ""] : [],
  );
};

/**
 * Reads every event of a run and waits for its result.
 *
 * @param {ReturnType<ReturnType<typeof createCrew>["run"]>} started
 */
async function result(started) {
  let events = 0;
  for await (const event of started) events += event.run === started.id ? 1 : 0;
  const ended = await started;
  if (ended.status !== "ok" || events === 0)
    throw new Error(`the run ended with status ${ended.status}: ${ended.output}`);
  return ended;
}
