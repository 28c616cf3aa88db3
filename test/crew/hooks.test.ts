import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createCrew, defineAgent } from "../../src/index.ts";
import type { Crew } from "../../src/crew/crew-type.ts";
import { beforeExit } from "../../src/runtime/async/before-exit.ts";
import { scripted } from "../../src/models/scripted/scripted.ts";
import { isAlive } from "../support/is-alive.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { until } from "../support/until.ts";

const QUESTION = "Proceed with $(touch pwned) or `touch pwned`?";
const TITLE = "Go on <b>now</b> & here.";

/** A crew with these hooks, whose agent asks something and then ends. */
function crewWith(on: object, network?: object): { home: string; crew: Crew } {
  const home = tempFolder();
  const crew = createCrew({
    home,
    cwd: tempFolder(),
    env: { PATH: process.env["PATH"], HOME: tempFolder(), SECRET_TOKEN: "canary" },
    discover: false,
    agents: [defineAgent({ name: "worker", description: "works", instructions: "Work." })],
    models: { m: scripted({ calls: [{ name: "ask", input: { question: QUESTION } }] }, "done") },
    model: "m",
    config: { on, ...(network && { network }) },
  });
  return { home, crew };
}

/** Runs the agent once, and returns the state folder and the id of the run. Its hooks may still be running. */
async function runWith(on: object, network?: object): Promise<{ home: string; id: string }> {
  const { home, crew } = crewWith(on, network);
  const run = crew.run({ mode: "single", agent: "worker", task: TITLE });
  for await (const event of run)
    if (event.type === "gate.opened") await run.answer(event.path, { approve: true, text: "yes" }, event.call);
  await run;
  return { home, id: run.id };
}

const jsonIn = (line: string | undefined): unknown => JSON.parse(line ?? "");

test("a command gets its event as JSON; no text of the run is part of its command line", async () => {
  const out = join(tempFolder(), "events");
  const hook = `cat >> '${out}'; echo "$SUBCREW_EVENT|$SUBCREW_TASK|$SUBCREW_STATUS|$SUBCREW_TITLE|$SUBCREW_TEXT|$SECRET_TOKEN" >> '${out}'`;
  const { id } = await runWith({ "needs-you": hook, "turn.ended": hook, "run.ended": hook });
  await beforeExit.gone();
  const lines = readFileSync(out, "utf8").trim().split("\n");
  const common = { run: id, title: TITLE };
  expect(lines).toHaveLength(8);
  expect(jsonIn(lines[0])).toMatchObject({ ...common, event: "turn.ended", type: "turn.ended", turn: 1 });
  expect(jsonIn(lines[2])).toMatchObject({ ...common, event: "needs-you", type: "gate.opened", text: QUESTION });
  expect(lines[3]).toBe(`needs-you|worker||${TITLE}|${QUESTION}|`);
  expect(jsonIn(lines[4])).toMatchObject({ ...common, event: "turn.ended", path: "worker", text: "done" });
  expect(jsonIn(lines[6])).toMatchObject({ ...common, event: "run.ended", path: "", outcome: { status: "ok" } });
  expect(lines[7]).toBe(`run.ended||ok|${TITLE}|ok|`);
});

test("a run ends, and its process gives it up, while its hooks still run", async () => {
  const folder = tempFolder();
  const hook = `cd '${folder}'; until test -e go; do sleep 0.05; done; touch "$SUBCREW_EVENT"`;
  const { crew } = crewWith({ "run.started": hook, "run.paused": hook, "run.ended": hook });
  const run = crew.run({ mode: "single", agent: "worker", task: "x" });
  await run.first("gate.opened");
  run.pause();
  await run;
  const resumed = crew.resume(run.id);
  for await (const event of resumed)
    if (event.type === "gate.opened") await resumed.answer(event.path, { approve: true, text: "yes" }, event.call);
  expect(await resumed).toMatchObject({ status: "ok" });
  expect(existsSync(join(folder, "run.started"))).toBe(false);
  writeFileSync(join(folder, "go"), "");
  await beforeExit.gone();
  expect(["run.started", "run.paused", "run.ended"].filter((name) => !existsSync(join(folder, name)))).toEqual([]);
});

test("a resumed run does not repeat the hooks of earlier events", async () => {
  const out = join(tempFolder(), "events");
  const hook = `echo "$SUBCREW_EVENT" >> '${out}'`;
  const { crew } = crewWith({
    "run.started": hook,
    "turn.ended": hook,
    "run.resumed": hook,
    "gate.opened": hook,
    "run.ended": hook,
  });
  const run = crew.run({ mode: "single", agent: "worker", task: "x" });
  await run.first("gate.opened");
  run.pause();
  await run;
  await beforeExit.gone();
  const resumed = crew.resume(run.id);
  for await (const event of resumed)
    if (event.type === "gate.opened") await resumed.answer(event.path, { approve: true, text: "yes" }, event.call);
  await beforeExit.gone();
  expect(readFileSync(out, "utf8")).toBe("run.started\nturn.ended\ngate.opened\nrun.resumed\nturn.ended\nrun.ended\n");
});

test("a hook is ended after 10 s with everything that it started, and that is one line in the log", async () => {
  const out = join(tempFolder(), "pid");
  const began = performance.now();
  const { home } = await runWith({ "run.ended": `sleep 60 & echo $! > '${out}'; trap '' TERM; wait` });
  expect(performance.now() - began).toBeLessThan(9_000);
  await beforeExit.gone();
  const pid = Number(readFileSync(out, "utf8"));
  await until(() => !isAlive(pid));
  expect(readFileSync(join(home, "hooks.log"), "utf8")).toMatch(/^\S+ run_\w+ run\.ended: .*10 s\n$/);
}, 30_000);

test("an address that refuses while a command still runs does not end the process", async () => {
  const unhandled: unknown[] = [];
  const noted = (error: unknown): void => void unhandled.push(error);
  process.on("unhandledRejection", noted);
  onTestFinished(() => void process.off("unhandledRejection", noted));
  const { home } = await runWith({ "needs-you": "echo broken >&2; exit 3", "run.ended": "http://127.0.0.1:9/" });
  await beforeExit.gone();
  expect(unhandled).toEqual([]);
  expect(readFileSync(join(home, "hooks.log"), "utf8")).toMatch(
    /^\S+ run_\w+ needs-you: .*exit code 3.*broken\n\S+ run_\w+ run\.ended: .*127\.0\.0\.1.*\n$/,
  );
});

test("hooks run in the order of their events, also when the first one takes longer", async () => {
  const out = join(tempFolder(), "events");
  await runWith({ "needs-you": `sleep 0.5; echo first >> '${out}'`, "run.ended": `echo second >> '${out}'` });
  await beforeExit.gone();
  expect(readFileSync(out, "utf8")).toBe("first\nsecond\n");
});

test("an address gets the same JSON through the guarded network, and a failure is logged", async () => {
  const got: string[] = [];
  const server = createServer((request, response) => {
    let body = `${request.method} `;
    request.on("data", (chunk) => (body += chunk)).on("end", () => (got.push(body), response.end()));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(() => void server.close());
  const address = server.address();
  const host = `127.0.0.1:${typeof address === "object" && address ? address.port : 0}`;
  const on = { "run.ended": `http://${host}/hook` };
  const { id } = await runWith(on, { allowHosts: [host] });
  await beforeExit.gone();
  expect(got.map((body) => body.split(" ")[0])).toEqual(["POST"]);
  expect(jsonIn(got[0]?.slice("POST ".length))).toMatchObject({
    event: "run.ended",
    run: id,
    title: TITLE,
    text: "ok",
  });
  // An address of this machine is refused unless the settings name it.
  const { home } = await runWith(on);
  await beforeExit.gone();
  expect(got).toHaveLength(1);
  expect(readFileSync(join(home, "hooks.log"), "utf8")).toMatch(/run\.ended: .*127\.0\.0\.1/);
});
