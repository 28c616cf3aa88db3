import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { type Need, needs, needsTimeout } from "../../../needs.ts";
import { place, script } from "../../command.ts";

// Slow turns are recorded one by one; faster ones share a write.
const turns = script(
  { calls: [{ name: "current_time", input: {} }], delayMs: 60 },
  { calls: [{ name: "bash", input: { command: "touch made.txt" } }], delayMs: 60 },
  { text: "done", delayMs: 60 },
);
let bwrap: Need;
beforeAll(async () => {
  bwrap = await needs("bwrap");
}, needsTimeout);

const agent = "---\nname: worker\ndescription: works\ntools: current_time, bash\n---\nWork.\n";
const bypass = ["--permission-mode", "bypass"];

/** What a resumed run did: whether its command ran, and what the command printed about it. */
async function resumed(
  before: string,
  after: string,
  flags: readonly string[] = [],
): Promise<{ made: boolean; text: string }> {
  const at = place({ "turns.json": turns });
  const home = at.env["SUBCREW_HOME"]!;
  const agents = join(at.home, ".subcrew", "agents");
  for (const folder of [home, agents]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(agents, "worker.md"), agent);
  writeFileSync(join(home, "config.yaml"), `permissions: ${before}\n`);
  const killed = await at.run(["run", "worker", "Go.", "--model", "scripted:turns.json", ...flags], {
    env: { SUBCREW_FAULT: "kill@journal.written:2" },
  });
  expect(killed.signal, killed.stderr).toBe("SIGKILL");
  writeFileSync(join(home, "config.yaml"), `permissions: ${after}\n`);
  const { stdout, stderr } = await at.run(["resume", "last"]);
  return { made: existsSync(join(at.workspace, "made.txt")), text: stdout + stderr };
}

test.each([
  ["the settings are the same", "{ mode: bypass }", "{ mode: bypass }", [], true],
  ["the mode of the settings allows less", "{ mode: bypass }", "{ mode: default }", [], false],
  ["the settings give no mode any more", "{ mode: bypass }", "{}", [], false],
  ["an allow rule left the settings", '{ allow: ["write_file(**)", "bash(touch *)"] }', "{}", [], false],
  ["the mode of the settings allows more", "{ mode: default }", "{ mode: bypass }", [], false],
  [
    "a flag gave the mode, and the settings are the same",
    "{ mode: acceptEdits }",
    "{ mode: acceptEdits }",
    bypass,
    true,
  ],
  ["a flag gave a rule", "{}", "{}", ["--allow", "write_file(**)", "--allow", "bash(touch *)"], true],
] as const)("a resumed run has its flags and the settings of now, but nothing more than before: %s", async (...row) => {
  const [, before, after, flags, made] = row;
  const { made: really, text } = await resumed(before, after, flags);
  expect(really, text).toBe(made);
});

test.for([
  ["{ mode: bypass, sandbox: 'off' }", "{ mode: bypass, sandbox: required }"],
  ["{ mode: bypass, sandbox: required }", "{ mode: bypass, sandbox: 'off' }"],
] as const)(
  "a run with the sandbox %s that is resumed with %s does not run commands without one",
  async ([before, after], context) => {
    if (bwrap.missing !== undefined) context.skip(bwrap.missing);
    const { text } = await resumed(before, after);
    expect(text).not.toContain("sandbox is disabled");
  },
);
