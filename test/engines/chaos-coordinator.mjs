// Coordinates one run of a plan on an engine, and says how it ended.
import { readFileSync } from "node:fs";
import { createCrew } from "../../dist/lib/index.js";

const [run, file, options] = process.argv.slice(2);
const crew = createCrew({ config: true, permissions: { mode: "bypass", sandbox: "off" } });
try {
  const what = JSON.parse(readFileSync(file, "utf8"));
  const working = what.resume ? crew.resume(run) : crew.run(what, { id: run, ...JSON.parse(options) });
  const { status } = await working;
  process.stdout.write(status);
} catch (error) {
  process.stdout.write(error.code ?? String(error));
}
process.exit(0);
