import { brokenRules } from "./rules.ts";
import { simulate } from "./simulate.ts";

/** `FIRST COUNT`: plays seeds one after the other until one breaks a rule, and prints which in one line of JSON. */
const [first = 1, count = 1] = process.argv.slice(2).map(Number);
let found: { seed: number; broken: readonly string[] } | undefined;
let seed = first;
const tell = (): void => void process.stdout.write(`${JSON.stringify({ played: seed - first, ...found })}\n`);
// Would end the real process: a promise that is not awaited may not reject.
process.on("unhandledRejection", (error) => {
  found = {
    seed,
    broken: [`nobody waited for: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`],
  };
  tell();
  process.exit(0);
});
for (; seed < first + count && !found; seed += 1) {
  const broken = brokenRules(await simulate(seed));
  if (broken.length > 0) found = { seed, broken: broken.slice(0, 5) };
}
tell();
// Waits that a simulated process left behind never end.
process.exit(0);
