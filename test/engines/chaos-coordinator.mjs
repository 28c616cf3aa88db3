// Coordinates one run of a plan on an engine, and prints its outcome.
import { readFileSync } from "node:fs";

// The library as users load it. The address is computed because the built files have no types beside them.
const { createCrew } = await import(new URL("../../dist/lib/index.js", import.meta.url).href);
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
