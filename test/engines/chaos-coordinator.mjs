// Coordinates one run of a plan on an engine, and says how it ended.
import { readFileSync } from "node:fs";
import { createCrew } from "../../dist/index.js";

const [run, file, options] = process.argv.slice(2);
const crew = createCrew({ config: true, permissions: { mode: "bypass", sandbox: "off" } });
try {
  const { status } = await crew.run(JSON.parse(readFileSync(file, "utf8")), { id: run, ...JSON.parse(options) });
  process.stdout.write(status);
} catch (error) {
  process.stdout.write(error.code ?? String(error));
}
process.exit(0);
