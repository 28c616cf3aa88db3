import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Place, place, type Started } from "../../command.ts";

const folder = mkdtempSync(join(tmpdir(), "subcrew engine ü-"));
const [here, there]: Place[] = [place({ "a.txt": "one\n" }), place({})];
let dev: Started;
let url = "";
let missing: string | undefined;

beforeAll(async () => {
  dev = here!.start(["engine", "dev", "--json", "--data", folder]);
  const line = await firstLine(dev).catch((error: Error) => (missing = error.message));
  if (missing === undefined) url = addressIn(line);
}, 120_000);
afterAll(async () => {
  dev.child.kill("SIGINT");
  await dev.ended;
  rmSync(folder, { recursive: true, force: true });
}, 60_000);
beforeEach((context) => {
  if (missing !== undefined) context.skip(`no Postgres: ${missing}`);
});

let printed = "";
async function firstLine({ child, until }: Started): Promise<string> {
  child.stdout.on("data", (chunk: Buffer) => (printed += chunk.toString()));
  await until(/\n/);
  return printed;
}
const addressIn = (line: string): string => (JSON.parse(line) as { url: string }).url;

describe("subcrew --engine", () => {
  test("a run that is kept in the database is seen from another machine's home, and not in this one's", async () => {
    const ran = await here!.run(["run", "--engine", url, "explore", "Which files are here?"]);
    expect(ran.code, ran.stderr).toBe(0);
    const [, id = ""] = /(run_[a-z0-9]{12})/.exec(ran.stderr) ?? [];
    const seen = await there!.run(["ps", "--all", "--json"], { env: { SUBCREW_ENGINE: url } });
    expect(JSON.parse(seen.stdout)).toMatchObject([{ id, status: "ok" }]);
    for (const args of [
      ["status", id],
      ["logs", "-v", id],
      ["show", id],
    ])
      expect((await there!.run([...args, "--engine", url])).stdout).toContain("Which files are here?");
    expect((await there!.run(["result", id, "--engine", url])).stdout).toContain("offline model");
    expect((await here!.run(["ps", "--all"])).stderr).toContain("There are no runs yet.");
  });

  test("a background run on the engine can be waited for from elsewhere", async () => {
    const begun = await here!.run(["run", "--bg", "--engine", url, "--name", "bg", "explore", "In the background?"]);
    const [, id = ""] = /(run_[a-z0-9]{12})/.exec(begun.stdout) ?? [];
    const waited = await there!.run(["wait", id, "--engine", url]);
    expect([waited.code, begun.code], waited.stderr + begun.stderr).toEqual([0, 0]);
  });

  test("the status names the schema, and the password is nowhere", async () => {
    const status = await there!.run(["engine", "status", "--engine", url]);
    expect([status.code, status.stdout], status.stderr).toEqual([
      0,
      expect.stringMatching(/tables {3}step \d+, up to date/),
    ]);
    expect(status.stdout).not.toContain(new URL(url).password);
    expect((await there!.run(["engine", "migrate", "--engine", url])).stdout).toMatch(/up to date/);
  });

  test.each([
    [["ps", "--engine", "mysql://x"], 2, "not a Postgres URL"],
    [["ps", "--engine", "postgres://me:hidden1@127.0.0.1:1/x"], 1, "cannot be reached"],
    [["engine", "status"], 2, "No engine is named"],
    [["engine", "drian"], 2, "drain"],
  ])("%j is answered with what is wrong and what to do", async (args, code, text) => {
    const ended = await there!.run(args);
    expect([ended.code, ended.stderr]).toEqual([code, expect.stringContaining(text)]);
    expect(ended.stderr).not.toMatch(/hidden1|at .*\.js:\d/);
  });
});

test("Ctrl-C stops the database, and the same folder and password serve again", async () => {
  dev.child.kill("SIGINT");
  expect((await dev.ended).code).toBe(0);
  expect((await there!.run(["ps", "--engine", url])).stderr).toContain("cannot be reached");
  printed = "";
  dev = here!.start(["engine", "dev", "--json", "--data", folder, "--port", new URL(url).port]);
  expect(addressIn(await firstLine(dev))).toBe(url);
  expect((await there!.run(["runs", "--engine", url])).stdout).toContain("run_");
});
