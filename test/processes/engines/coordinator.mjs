// Coordinates one run of the task `worker` on the local engine, and prints its end.
import { readFileSync } from "node:fs";
import { join } from "node:path";

// The library as users load it. The address is computed because the built files have no types beside them.
const { createCrew } = await import(new URL("../../../dist/lib/index.js", import.meta.url).href);
const [folder, runner, run, resume] = process.argv.slice(2);
process.stdin.on("end", () => process.exit(1)).resume(); // the test was killed
const crew = createCrew({
  cwd: folder,
  home: join(folder, "state"),
  discover: false,
  env: { PATH: process.env.PATH, HOME: folder },
  permissions: { mode: "bypass", sandbox: "off" },
  toolModules: [join(import.meta.dirname, "../../engines/performer-tools.mjs")],
  agents: [
    {
      name: "worker",
      description: "works",
      instructions: "Work.",
      model: "scripted:turns.json",
      tools: ["ask", "note", "die_once", "hang_once", "freeze_once"],
      runner,
    },
  ],
});
// A frozen performer (the process that performs a task) is replaced when the time limit of its task is over. If it runs
// in the process of the coordinator, both are replaced together.
const freezes = runner !== "local" && readFileSync(join(folder, "turns.json"), "utf8").includes("freeze_once");
const limited = freezes ? { resourceLimits: { maxDurationMs: 6_000, graceMs: 100 } } : {};
const input = { mode: "single", agent: "worker", task: "Go.", ...limited };
try {
  const working = resume === "resume" ? crew.resume(run) : crew.run(input, { id: run });
  process.stdout.write(await working.then(({ status }) => status));
} catch (error) {
  process.stdout.write(error.code ?? String(error));
}
process.exit(0);
