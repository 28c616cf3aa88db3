import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Need, needs } from "../../../needs.ts";
import { type Place, place, script } from "../../command.ts";
import { type Terminal, terminal } from "../../terminal.ts";

const places: Place[] = [];
const terminals: Terminal[] = [];
let tmux: Need;
beforeAll(async () => {
  tmux = await needs("tmux");
}, 300_000);
afterAll(async () => {
  for (const screen of terminals) screen.close();
  for (const there of places) await there.run(["kill", "run_"]);
});

/** A run in the background whose agent asks two questions in words, one after the other. */
async function asking(): Promise<Place> {
  const there = place({
    "turns.json": script(
      { calls: [{ name: "ask", input: { question: "Which colour?" } }] },
      { calls: [{ name: "ask", input: { question: "Which size?" } }] },
      "painted",
    ),
  });
  places.push(there);
  mkdirSync(join(there.home, ".agents/agents"), { recursive: true });
  writeFileSync(
    join(there.home, ".agents/agents/painter.md"),
    "---\nname: painter\ndescription: Paints.\ntools: [ask]\n---\nPaint.\n",
  );
  const { code } = await there.run("run painter paint --model scripted:turns.json --bg".split(" "));
  expect(code).toBe(0);
  await asked(there, "Which colour?");
  return there;
}

async function asked(there: Place, question: string): Promise<void> {
  await expect.poll(async () => (await there.run(["inbox"])).stdout).toContain(question);
}

test("a question that wants a text is not answered with yes, and attach does not repeat an answered question", async (context) => {
  if (tmux.missing !== undefined) return context.skip(tmux.missing);
  const there = await asking();
  expect((await there.run(["inbox"])).stdout).toContain("wants an answer in words");
  expect(await there.run(["inbox", "allow", "run_"])).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(
      /^subcrew: "(run_\w+\/painter)" asks for an answer in words\.\n {2}Give the answer with `subcrew inbox answer \1 "\.\.\."`/,
    ),
  });
  expect(await there.run(["inbox", "answer", "run_", "blue"])).toMatchObject({ code: 0 });
  await asked(there, "Which size?");

  const screen = terminal(tmux.path, there, ["attach", "run_"], { rows: 40 });
  terminals.push(screen);
  await screen.until("type an answer, then Enter");
  screen.keys("large", "Enter");
  await screen.until("[exit 0]");
  expect(screen.history()).toContain("Which size?");
  expect(screen.history()).not.toContain("Which colour?");
  const { stdout } = await there.run(["show", "run_"]);
  expect(stdout).toContain("Answer: blue");
  expect(stdout).toContain("Answer: large");
});

test("lists have colours on a terminal, and none in a pipe", async (context) => {
  if (tmux.missing !== undefined) return context.skip(tmux.missing);
  const there = place({ "turns.json": script("done") });
  const run = await there.run("run general x --model scripted:turns.json --name painted".split(" "));
  expect(run.code).toBe(0);
  const screen = terminal(tmux.path, there, [], {
    rows: 60,
    script: (line) => `${line} ps\n${line} status painted\n${line} runs\n${line} ps | cat\necho "[exit $?]"`,
  });
  terminals.push(screen);
  await screen.until("[exit 0]");
  const lines = screen.colors().split("\n");
  const green = "\u001b[32m";
  // one row in the list of ps, and one in that of runs
  expect(lines.filter((line) => line.includes("painted") && line.includes(green))).toHaveLength(2);
  expect(lines.filter((line) => /Status/.test(line) && line.includes(`${green}completed`))).toHaveLength(1);
  expect(lines.filter((line) => /^run_\w+ {2}ok /.test(line))).toHaveLength(1); // the row in the pipe has no colours
});
