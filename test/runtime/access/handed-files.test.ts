import { mkdirSync, readFileSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import type { ModelRequest } from "../../../src/core/model/model.ts";
import { createCrew, defineAgent, defineTool } from "../../../src/index.ts";
import { type Script, scripted } from "../../../src/models/scripted/scripted.ts";
import { call, stage } from "../../support/stage.ts";
import { tempFolder } from "../../support/temp-folder.ts";

const LONG = `${"some line of a result\n".repeat(1_500)}the very end`;
const lead = { tools: ["*", "task"] };
const batch = (...ids: readonly string[]): Script =>
  call("task", { agent: "scout", tasks: ids.map((id) => ({ id, assignment: "go" })) });

/** The last file that was named to the model. */
const toldIn = (request: ModelRequest): string =>
  [...JSON.stringify(request.messages).matchAll(/(?:full output[^:]*:|full output is in) ([^\]\s]+)\]/g)].at(-1)?.[1] ??
  "none";

const read = (path: (told: string) => string): Script => {
  const turn = (request: ModelRequest) => ({
    calls: [{ name: "read_file", input: { path: path(toldIn(request)) } }],
  });
  return turn;
};
const asTold = (told: string): string => told;

test("a task that got a truncated result may read the file that the result names", async () => {
  const played = await stage({
    lead: { ...lead, says: [batch("A"), read(asTold), "done"] },
    scout: { says: [LONG] },
  });
  expect(played.read("lead")[1]).toMatch(/^1\tsome line of a result\n[^]*\tthe very end$/);
});

test("a task may also read the file with the full result of its own tool", async () => {
  const speak = defineTool({
    name: "speak",
    description: "speaks",
    input: z.object({}),
    effect: "read",
    run: () => `the very beginning\n${"x\n".repeat(60_000)}`,
  });
  const played = await stage(
    { lead: { tools: ["speak", "read_file"], says: [call("speak", {}), read(asTold), "done"] } },
    { tools: [speak] },
  );
  expect(played.read("lead")[1]).toMatch(/^1\tthe very beginning\n2\tx\n/);
});

test.each<[what: string, path: (told: string) => string]>([
  ["the output of another task", (told) => join(dirname(dirname(told)), "other.md")],
  ["the result of a helper of another task", (told) => join(dirname(dirname(told)), "other", "deep.md")],
  ["the journal", (told) => join(dirname(dirname(dirname(told))), "journal.jsonl")],
  ["the journal, by a path with ..", (told) => `${dirname(told)}/../../journal.jsonl`],
  ["the file itself, by a path with ..", (told) => `${dirname(told)}/../lead/A.md`],
  [
    "an output of another run",
    (told) => join(dirname(dirname(dirname(dirname(told)))), "run_aaaaaaaaaaaa/outputs/x.md"),
  ],
  ["the folder of outputs", (told) => dirname(told)],
  ["the settings", (told) => join(dirname(dirname(dirname(dirname(dirname(told))))), "config.yaml")],
])("a task may read no other output file: %s", async (_, path) => {
  const { events, read: answers } = await stage({
    lead: {
      ...lead,
      says: [
        batch("A"),
        (request) => {
          plant(toldIn(request));
          return { calls: [{ name: "read_file", input: { path: path(toldIn(request)) } }] };
        },
        "done",
      ],
    },
    scout: { says: [LONG] },
  });
  expect(answers("lead")[1]).toMatch(/^DENIED: /);
  expect(answers("lead")[1]).not.toContain("planted");
  expect(events.filter(({ type }) => type === "tool.denied")).toHaveLength(1);
});

/** Creates files in the state folder that were never named to a model. */
function plant(told: string): void {
  const run = dirname(dirname(dirname(told)));
  const other = join(dirname(run), "run_aaaaaaaaaaaa", "outputs");
  for (const folder of [other, join(run, "outputs", "other")]) mkdirSync(folder, { recursive: true });
  for (const file of [join(other, "x.md"), join(run, "outputs", "other.md"), join(run, "outputs", "other", "deep.md")])
    writeFileSync(file, "planted");
  writeFileSync(join(dirname(dirname(run)), "config.yaml"), "planted: 1");
}

test.each([
  ["edit_file", (path: string) => ({ path, oldText: "very", newText: "other" })],
  ["write_file", (path: string) => ({ path, content: "mine" })],
  ["delete_file", (path: string) => ({ path })],
])("the output file of a truncated result is not changed: %s is refused", async (name, input) => {
  const { events } = await stage(
    {
      lead: {
        ...lead,
        says: [batch("A"), (request) => ({ calls: [{ name, input: input(toldIn(request)) }] }), "done"],
      },
      scout: { says: [LONG] },
    },
    { permissions: { mode: "bypass" } },
  );
  expect(events.find(({ type }) => type === "tool.denied")).toMatchObject({ tool: name });
});

test("helpers of the task that got the truncated result may not read the file", async () => {
  let told = "";
  const { read: answers } = await stage({
    lead: {
      ...lead,
      says: [
        batch("A"),
        (request) => {
          told = toldIn(request);
          return { calls: [{ name: "task", input: { agent: "spy", tasks: [{ id: "B", assignment: told }] } }] };
        },
        "done",
      ],
    },
    scout: { says: [LONG] },
    spy: { says: [() => ({ calls: [{ name: "read_file", input: { path: told } }] }), "could not"] },
  });
  expect(answers("spy")[0]).toMatch(/^DENIED: .* is outside of the working folder/);
});

test("a link that replaces the output file is not followed", async () => {
  const { read: answers } = await stage({
    lead: {
      ...lead,
      says: [
        batch("A"),
        (request) => {
          const told = toldIn(request);
          unlinkSync(told);
          symlinkSync(join(dirname(dirname(dirname(told))), "journal.jsonl"), told);
          return { calls: [{ name: "read_file", input: { path: told } }] };
        },
        "done",
      ],
    },
    scout: { says: [LONG] },
  });
  expect(answers("lead")[1]).toMatch(/^DENIED: .* is a symbolic link that is broken or points outside/);
});

test("a resumed run may still read the files of its truncated results", async () => {
  const home = tempFolder();
  const crewOf = (...says: readonly Script[]) => {
    const model = scripted(...says);
    const agents = ["lead", "scout"].map((name) =>
      defineAgent({ name, description: name, instructions: name, model: name, ...(name === "lead" && lead) }),
    );
    const options = { home, cwd: tempFolder(), env: { PATH: "/bin" }, discover: false, unattended: true };
    return { model, crew: createCrew({ ...options, agents, models: { lead: model, scout: scripted(LONG) } }) };
  };
  const run = crewOf(batch("A"), "done").crew.run({ mode: "single", agent: "lead", task: "Lead." });
  await run;
  const journal = join(home, "runs", run.id, "journal.jsonl");
  const lines = readFileSync(journal, "utf8").split("\n");
  const told = lines.findIndex((line) => line.includes('"type":"tool.ended"'));
  // the state as if the process had stopped at this record
  writeFileSync(journal, `${lines.slice(0, told + 1).join("\n")}\n`);
  const second = crewOf(read(asTold), "done");
  expect(await second.crew.resume(run.id)).toMatchObject({ status: "ok" });
  const last = second.model.requests.at(-1)!.messages.flatMap((one) => (one.role === "tool" ? one.results : []));
  expect(last.at(-1)!.text).toMatch(/the very end$/);
});
