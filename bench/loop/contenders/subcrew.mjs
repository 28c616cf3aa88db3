// @ts-check
import * as library from "../../../dist/lib/index.js";
import { schema, system, tool } from "../job.mjs";

const { createCrew, defineAgent, defineTool } = /** @type {typeof import("../../../src/index.ts")} */ (
  /** @type {unknown} */ (library)
);

/**
 * As users have it: one run, its journal in a folder, every event heard, and limits on turns, time, calls and tokens.
 *
 * @type {import("../job.mjs").Contender}
 */
export const run = async ({ baseURL, prompt, agents, turns, look, home }) => {
  const crew = createCrew({
    home,
    discover: false,
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
  const started = crew.run(
    agents === 1
      ? { mode: "single", ...task }
      : { mode: "parallel", tasks: Array.from({ length: agents }, (_, n) => ({ ...task, name: `t${n}` })) },
    {
      concurrency: agents,
      maxTimeMs: 600_000,
      budget: { maxTokens: 1e9, maxToolCalls: 1e6, maxTurns: 1e6 },
    },
  );
  let events = 0;
  for await (const event of started) events += event.run === started.id ? 1 : 0;
  const { status, output, nodes } = await started;
  if (status !== "ok" || events === 0) throw new Error(`the run ended ${status}: ${output}`);
  if (agents === 1) return [output];
  return Object.entries(nodes).flatMap(([path, node]) =>
    /^t\d+$/.test(path) && "output" in node ? [node.output ?? ""] : [],
  );
};
