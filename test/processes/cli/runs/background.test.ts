import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { whoWeAre } from "../../../../src/runtime/disk/process-claim.ts";
import { ownerOf } from "../../../../src/runtime/store/run-claim.ts";
import { type Need, needs } from "../../../needs.ts";
import { isAlive } from "../../../support/is-alive.ts";
import { anyCommand, type Ended, type Place, place, script } from "../../command.ts";
import { type Terminal, terminal } from "../../terminal.ts";

vi.setConfig({ maxConcurrency: 3 });

const later = (ms: number, text: string): string => script({ delayMs: ms, text });
const forever = later(600_000, "never");
/** A script that runs until the file `go` exists, and then answers with this text. */
const held = (text: string): string => {
  const command = "until test -e go; do sleep 0.05; done";
  return script({ calls: [{ name: "bash", input: { command, timeoutMs: 600_000 } }] }, text);
};
const letGo = ({ workspace }: Place): void => writeFileSync(join(workspace, "go"), "");
const team = JSON.stringify({
  team: {
    tasks: [
      { id: "page", task: "Write it.", requiresApproval: true, tools: ["read_file"] },
      { id: "ship", task: "Ship it.", depends: ["page"] },
    ],
  },
});

/** Every background process that a test left behind. */
const places: Place[] = [];
const fresh = (files: Readonly<Record<string, string>>): Place => {
  const there = place(files);
  places.push(there);
  return there;
};
afterAll(() => {
  for (const there of places) for (const pid of processesOf(there)) killed(pid);
});

let tmux: Need;
beforeAll(async () => {
  tmux = await needs("tmux");
}, 300_000);

const terminals: Terminal[] = [];
const opened = (screen: Terminal): Terminal => {
  terminals.push(screen);
  return screen;
};
afterAll(() => {
  for (const screen of terminals) screen.close();
});

/** Every process that works for this place. */
function allOf({ home }: Place): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0").includes(`HOME=${home}`);
      } catch {
        return false; // the process has ended, or belongs to another user
      }
    })
    .map(Number);
}

const runsOf = ({ env }: Place): string => join(env["SUBCREW_HOME"]!, "runs");

/** The processes that own a run of this place, by their claims. */
function processesOf(there: Place): number[] {
  const folder = runsOf(there);
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((id) =>
    readdirSync(join(folder, id))
      .filter((name) => name.startsWith("owner."))
      .map((name) => (JSON.parse(readFileSync(join(folder, id, name), "utf8")) as { pid: number }).pid),
  );
}

function killed(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // the process has ended by itself
  }
}

// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the tests say what they expect
const json = <T = Record<string, unknown>>({ stdout }: Ended): T => JSON.parse(stdout) as T;
const idIn = (text: string): string => /run_\w{12}/.exec(text)?.[0] ?? "";

/** Starts a run in the background; returns its id. */
async function background(
  there: Place,
  args: readonly string[],
  options: { env?: Record<string, string> } = {},
): Promise<string> {
  const { code, stdout, stderr } = await there.run([...args, "--bg"], options);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return idIn(stdout);
}

/** Writes the settings of the user. */
function configure({ env }: Place, text: string): void {
  mkdirSync(env["SUBCREW_HOME"]!, { recursive: true });
  writeFileSync(join(env["SUBCREW_HOME"]!, "config.yaml"), text);
}

async function until(what: () => Promise<boolean>): Promise<void> {
  for (const end = performance.now() + 200_000; performance.now() < end; await sleep(50)) if (await what()) return;
  throw new Error("it never came to that");
}

describe.concurrent("--bg", () => {
  test("prints the id, the output file and the next commands, and the run continues without the command", async () => {
    const there = fresh({ "turns.json": held("done later") });
    const { code, stdout } = await there.run([...anyCommand, "--bg"]);
    expect(code).toBe(0);
    const id = idIn(stdout);
    expect(stdout).toMatch(new RegExp(`^\\[Task running in background: ${id}\\]$`, "m"));
    expect(stdout).toContain(`/task-status ${id}`);
    expect(stdout).toContain(`subcrew status ${id}`);
    const file = /The result will be in (\S+)/.exec(stdout)?.[1] ?? "";
    expect(readFileSync(file, "utf8")).toBe(`${id} has no result yet. See \`subcrew status ${id}\`.\n`);

    expect(json(await there.run(["status", id, "--json"]))).toMatchObject({
      status: "running",
      background: true,
      total: 1,
      done: 0,
    });
    letGo(there);
    const waited = await there.run(["wait", id]);
    expect(waited.code).toBe(0);
    await until(async () => readFileSync(file, "utf8") === "done later\n");
    expect(readFileSync(file, "utf8")).toBe("done later\n");
    expect(await there.run(["result", id])).toMatchObject({ code: 0, stdout: "done later\n" });
  });

  test("with --json prints all of it as one line for a program", async () => {
    const there = fresh({ "turns.json": script("ok") });
    const started = json(await there.run(["run", "explore", "x", "--model", "scripted:turns.json", "--bg", "--json"]));
    expect(started).toMatchObject({
      id: expect.stringMatching(/^run_\w{12}$/),
      outputFile: expect.stringContaining("output.md"),
      commands: { inbox: "subcrew inbox" },
    });
  });

  test.each([
    [["run", "nobody", "x"], "UNKNOWN_AGENT"],
    [["run", "explore", "x", "--model", "no/such"], "UNKNOWN_MODEL"],
    [["run", "explore"], "BAD_INPUT"],
    [["parallel", 'explore="{task:none}"', "--strict"], "PLAN_UNKNOWN_REFERENCE"],
  ])("an error is reported at once and nothing is started: %j", async (args, code) => {
    const there = fresh({});
    const ended = await there.run([...args, "--bg", "--json"]);
    expect(ended.code).toBe(2);
    expect(JSON.parse(ended.stderr)).toMatchObject({ code });
    expect(existsSync(runsOf(there)) ? readdirSync(runsOf(there)) : []).toEqual([]);
  });

  test("the stored files are readable only by the user and contain no secret", async () => {
    const secret = "sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789";
    const there = fresh({ "turns.json": script("ok") });
    const id = await background(there, ["run", "explore", `use ${secret}`, "--model", "scripted:turns.json"], {
      env: { MY_API_KEY: secret },
    });
    await there.run(["wait", id]);
    const folder = join(runsOf(there), id);
    const file = join(folder, "request.json");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((each) =>
      statSync(join(folder, each)).isFile(),
    ))
      expect(readFileSync(join(folder, name), "utf8")).not.toContain(secret);
  });

  test("of too many concurrent starts only the allowed number succeeds, and the error of the others names a fix", async () => {
    const there = fresh({ "turns.json": forever });
    configure(there, "background:\n  maxRuns: 2\n");
    const args = ["run", "explore", "x", "--model", "scripted:turns.json", "--bg"];
    const all = await Promise.all(Array.from({ length: 5 }, () => there.run(args)));
    expect(all.map(({ code }) => String(code)).toSorted((a, b) => a.localeCompare(b))).toEqual([
      "0",
      "0",
      "3",
      "3",
      "3",
    ]);
    for (const { stderr } of all.filter(({ code }) => code === 3)) {
      expect(stderr).toContain("Maximum concurrent tasks (2) reached");
      expect(stderr).toContain("background.maxRuns");
    }
    expect(json<unknown[]>(await there.run(["ps", "--json"]))).toHaveLength(2);
    expect(readdirSync(runsOf(there))).toHaveLength(2);
    // A process that was killed while it started a run does not count.
    const pids = processesOf(there);
    for (const pid of pids) killed(pid);
    await until(async () => !pids.some(isAlive));
    for (const id of readdirSync(runsOf(there)))
      writeFileSync(join(runsOf(there), id, "starting.json"), JSON.stringify({ pid: 1, started: "0" }));
    await background(there, args.slice(0, -1));
  });

  test("the settings of the user's file apply in the background, too", async () => {
    const there = fresh({ "team.json": team, "turns.json": script("the page", "more of it") });
    configure(there, "answerTimeoutMs: 300\nresume:\n  maxContinuations: 1\n");
    const id = await background(there, ["team", "--input", "team.json", "--model", "scripted:turns.json"]);
    expect((await there.run(["wait", id])).code).toBe(3);
    expect((await there.run(["status", id])).stdout).toContain("nobody answered within 300ms");
    const single = await background(there, ["run", "explore", "x", "--model", "scripted:turns.json"]);
    await there.run(["wait", single]);
    expect((await there.run(["resume", single, "more"])).code).toBe(0);
    const again = await there.run(["resume", single, "and more"]);
    expect(again.code).toBe(2);
    expect(again.stderr).toContain("Resume quota exceeded (max 1)");
  });

  test("every mode can run in the background", async () => {
    const there = fresh({
      "turns.json": script("ok"),
      "team.json": JSON.stringify({ team: { tasks: [{ id: "a", task: "x" }] } }),
    });
    const model = ["--model", "scripted:turns.json"];
    const ids = await Promise.all([
      background(there, ["parallel", "explore=a", "explore=b", ...model]),
      background(there, ["chain", "explore=a", "explore=b", ...model]),
      background(there, ["race", "--agents", "explore,general", "x", ...model]),
      background(there, ["team", "--input", "team.json", ...model]),
    ]);
    expect((await there.run(["wait", ...ids])).code).toBe(0);
  });
});

describe.concurrent("a background process that is gone", () => {
  test("a run whose process was killed is shown as interrupted, never as running, with the command that resumes it", async () => {
    const there = fresh({ "turns.json": forever });
    const id = await background(there, ["run", "explore", "x", "--model", "scripted:turns.json", "--name", "lost"]);
    for (const pid of processesOf(there)) killed(pid);
    await until(async () => json<{ status: string }>(await there.run(["status", id, "--json"])).status !== "running");
    const [row] = json<{ status: string; doing: string }[]>(await there.run(["ps", "--json"]));
    expect(row).toMatchObject({ status: "interrupted", doing: `subcrew resume ${id}` });
    expect((await there.run(["status", "lost"])).stdout).toContain(`Next: subcrew resume ${id}`);
    expect((await there.run(["wait", id])).code).toBe(1);
    expect((await there.run(["send", id, "hello"])).stderr).toContain("is interrupted");
    const { code, stderr } = await there.run(["result", id]);
    expect({ code, hint: stderr.includes(`subcrew resume ${id}`) }).toEqual({ code: 2, hint: true });
  });

  test("a team in the background survives closing the terminal; after a reboot it is resumed and finished", async ({
    skip,
  }) => {
    if (tmux.missing !== undefined) return skip(tmux.missing);
    const there = fresh({ "team.json": team, "turns.json": script("the page") });
    const work = ["team", "--input", "team.json", "--model", "scripted:turns.json", "--bg", "--name", "site"];
    const shell = opened(terminal(tmux.path, there, work, { columns: 200 }));
    const id = idIn((await shell.until("[exit 0]")).join("\n"));
    shell.close(); // closing the terminal ends all its processes
    await until(async () => json<{ status: string }>(await there.run(["status", id, "--json"])).status === "waiting");

    for (const pid of [...processesOf(there), ...allOf(there)]) killed(pid);
    await until(
      async () => json<{ status: string }>(await there.run(["status", id, "--json"])).status === "interrupted",
    );
    await until(async () => allOf(there).length === 0);
    const open = json<{ path: string; life: string }[]>(await there.run(["inbox", "--json"]));
    expect(open).toMatchObject([{ path: "page.1/approval", life: "interrupted" }]);

    const answered = await there.run(["inbox", "allow", id]);
    expect(answered.code).toBe(0);
    expect(answered.stdout).toContain(`subcrew resume ${id}`);
    const resumed = await there.run(["resume", "site", "--bg"]);
    expect({ code: resumed.code, stderr: resumed.stderr }).toEqual({ code: 0, stderr: "" });
    expect((await there.run(["wait", "site", "--timeout", "200s"])).code).toBe(0);
    const logs = (await there.run(["logs", id])).stdout;
    expect(logs).toContain("approved by the inbox");
    const events = (await there.run(["logs", id, "--json"])).stdout.trimEnd().split("\n");
    const turns = events.filter((line) => line.includes('"turn.started"')).map((line) => JSON.parse(line) as object);
    expect(turns).toMatchObject([{ path: "page.1/plan" }, { path: "ship" }]); // finished work is not repeated
    expect((await there.run(["result", id])).stdout).toContain("the page");
  });
});

describe.concurrent("the inbox", () => {
  const asking = (): Place => fresh({ "team.json": team, "turns.json": script("the page") });
  const args = ["team", "--input", "team.json", "--model", "scripted:turns.json"];
  const waits = (there: Place): Promise<void> =>
    until(async () => json<unknown[]>(await there.run(["inbox", "--json"])).length > 0);

  test("a question of a background run waits, is listed, and an answer lets the run end", async () => {
    const there = asking();
    const id = await background(there, args);
    await waits(there);
    expect((await there.run(["ps"])).stdout).toMatch(new RegExp(`^${id} {2}waiting`, "m"));
    const listed = await there.run(["inbox"]);
    expect(listed.stdout).toContain(`${id}/page.1/approval`);
    const allowed = await there.run(["inbox", "allow", id]);
    expect(allowed).toMatchObject({ code: 0, stdout: "The answer was accepted.\n" });
    expect((await there.run(["wait", id])).code).toBe(0);
    expect((await there.run(["inbox"])).stderr).toBe("The inbox is empty.\n");
  });

  test("of two concurrent answers one wins and the other is refused with the reason", async () => {
    const there = asking();
    const id = await background(there, args);
    await waits(there);
    const gate = `${id}/page.1/approval`; // a rejection with a reason starts a second round, which asks again
    const both = await Promise.all([
      there.run(["inbox", "allow", gate]),
      there.run(["inbox", "deny", gate, "no good"]),
    ]);
    expect(both.map(({ code }) => code === 0).filter(Boolean), JSON.stringify(both)).toHaveLength(1);
    const lost = both.find(({ code }) => code !== 0);
    expect(lost?.stderr).toMatch(/already answered/);
    const answers = (await there.run(["logs", id, "--json"])).stdout
      .split("\n")
      .filter((line) => line.includes('"gate.answered"'));
    expect(answers.length).toBeGreaterThanOrEqual(1);
    expect(answers.filter((line) => line.includes('"path":"page.1/approval"'))).toHaveLength(1);
  });

  test("a rejection fails the run, and the beginning of the run's id is enough to name it", async () => {
    const there = asking();
    const run = there.start([...args, "--bg"]);
    await run.ended;
    await waits(there);
    const denied = await there.run(["inbox", "deny", "run_"]);
    expect(denied.code).toBe(0);
    expect((await there.run(["wait", idIn((await run.ended).stdout)])).code).toBe(1);
  });

  test("--answer-timeout: without an answer in time the run ends with NEEDS_ANSWER", async () => {
    const there = asking();
    const id = await background(there, [...args, "--answer-timeout", "300ms"]);
    expect((await there.run(["wait", id])).code).toBe(3);
    expect((await there.run(["status", id])).stdout).toContain("nobody answered within 300ms");
  });

  test("--unattended does not wait", async () => {
    const there = asking();
    const id = await background(there, [...args, "--unattended"]);
    expect((await there.run(["wait", id])).code).toBe(3);
  });

  test("--yes answers in the background, too", async () => {
    const there = asking();
    const id = await background(there, [...args, "--yes"]);
    expect((await there.run(["wait", id])).code).toBe(0);
  });

  test("an answer without an open question is an error", async () => {
    const there = fresh({ "turns.json": script("ok") });
    const id = await background(there, ["run", "explore", "x", "--model", "scripted:turns.json"]);
    await there.run(["wait", id]);
    expect((await there.run(["inbox", "allow", id])).code).toBe(2);
  });
});

describe.concurrent("messages and signals to a run", () => {
  test("a message gets a receipt and is read before the next turn", async () => {
    const there = fresh({ "turns.json": held("b") });
    const id = await background(there, anyCommand);
    const sent = await there.run(["send", id, "Mind", "the", "gap."]);
    expect(sent).toMatchObject({ code: 0, stdout: '"bash" reads the message before its next turn.\n' });
    letGo(there);
    await there.run(["wait", id]);
    const late = await there.run(["send", id, "too late"]);
    expect(late.code).toBe(3);
    expect((await there.run(["logs", id, "--json"])).stdout).toContain("Mind the gap.");
  });

  test("--interrupt ends the turn early, and the message is read at once", async () => {
    const there = fresh({ "turns.json": script({ delayMs: 600_000, text: "never" }, "As you say.") });
    const id = await background(there, ["run", "explore", "x", "--model", "scripted:turns.json"]);
    await until(async () => (await there.run(["logs", id, "--json"])).stdout.includes("turn.started"));
    expect((await there.run(["send", `${id}/explore`, "Hand in.", "--interrupt"])).code).toBe(0);
    expect((await there.run(["wait", id, "--timeout", "200s"])).code).toBe(0);
    expect((await there.run(["result", id])).stdout).toBe("As you say.\n");
  });

  test("with several running tasks the task must be named", async () => {
    const there = fresh({ "turns.json": forever });
    const id = await background(there, ["parallel", "a@explore=x", "b@explore=y", "--model", "scripted:turns.json"]);
    await until(async () => json<{ running: number }>(await there.run(["status", id, "--json"])).running === 2);
    const { code, stderr } = await there.run(["send", id, "hello"]);
    expect(code).toBe(2);
    expect(stderr).toContain(`${id}/a, ${id}/b`);
  });

  test("stop pauses the run, and resume continues it", async () => {
    const there = fresh({ "turns.json": forever });
    const id = await background(there, ["run", "explore", "x", "--model", "scripted:turns.json"]);
    const stopped = await there.run(["stop", id]);
    expect(stopped.code).toBe(0);
    expect(stopped.stdout).toContain(`subcrew resume ${id}`);
    expect((await there.run(["wait", id])).code).toBe(1);
    writeFileSync(join(there.workspace, "turns.json"), script("now"));
    expect(await there.run(["resume", id])).toMatchObject({ code: 0, stdout: "now\n" });
  });

  test("stop refuses a task, and of a paused run one task can be resumed, then the rest", async () => {
    const there = fresh({ "turns.json": forever });
    const id = await background(there, ["parallel", "a@explore=x", "b@explore=y", "--model", "scripted:turns.json"]);
    await until(async () => json<{ running: number }>(await there.run(["status", id, "--json"])).running === 2);
    const refused = await there.run(["stop", `${id}/a`]);
    expect(refused.code).toBe(2);
    for (const way of [`subcrew cancel ${id}/a`, `subcrew stop ${id}\``]) expect(refused.stderr).toContain(way);
    expect((await there.run(["resume", `${id}/a`])).code).toBe(3);
    expect((await there.run(["stop", id])).code).toBe(0);
    writeFileSync(join(there.workspace, "turns.json"), script("now"));
    expect((await there.run(["resume", `${id}/a`])).code).toBe(0);
    const status = json<{ status: string; done: number }>(await there.run(["status", id, "--json"]));
    expect(status).toMatchObject({ status: "paused", done: 1 });
    expect((await there.run(["resume", id])).code).toBe(0);
  });

  test("resume refuses a task that the run does not have, also when the run has ended", async () => {
    const there = fresh({ "turns.json": script("now") });
    const { stdout } = await there.run(["run", "explore", "x", "--model", "scripted:turns.json", "--json"]);
    const { run: id } = JSON.parse(stdout.split("\n")[0]!) as { run: string };
    for (const flags of [[], ["--retry-failed"]]) {
      const { code, stderr } = await there.run(["resume", `${id}/nobody`, ...flags]);
      expect([code, stderr]).toEqual([2, expect.stringContaining('has no task "nobody"')]);
    }
  });

  test("kill ends the process at once, and no record is lost", async () => {
    const there = fresh({ "turns.json": forever });
    const id = await background(there, ["run", "explore", "x", "--model", "scripted:turns.json"]);
    expect((await there.run(["kill", id])).code).toBe(0);
    expect(json(await there.run(["status", id, "--json"]))).toMatchObject({ status: "interrupted" });
    writeFileSync(join(there.workspace, "turns.json"), script("again"));
    expect(await there.run(["resume", id])).toMatchObject({ code: 0, stdout: "again\n" });
  });
});

describe.concurrent("watching a run", () => {
  test("logs -f continues until the end of the run", async () => {
    const there = fresh({ "turns.json": later(1_000, "done") });
    const id = await background(there, ["run", "explore", "x", "--model", "scripted:turns.json"]);
    const { code, stdout } = await there.run(["logs", "-f", id]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/ run {5}run_/);
    expect(stdout).toMatch(/ ok {6}explore/);
  });

  test("logs without -f prints the events so far and ends", async () => {
    const there = fresh({ "turns.json": forever });
    const id = await background(there, ["run", "explore", "x", "--model", "scripted:turns.json"]);
    const { code, stdout } = await there.run(["logs", id, "--json"]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout.split("\n")[0] ?? "")).toMatchObject({ type: "run.started", seq: 1 });
  });

  test("wait returns the exit code of the run, of several runs the highest, and 4 when the time is up", async () => {
    const there = fresh({
      "ok.json": script("ok"),
      "stuck.json": forever,
      "bad.json": script({ error: { code: "MODEL_AUTH", message: "no key", retryable: false } }),
    });
    const start = (file: string): Promise<string> =>
      background(there, ["run", "explore", "x", "--model", `scripted:${file}`]);
    const [good, bad, stuck] = await Promise.all([start("ok.json"), start("bad.json"), start("stuck.json")]);
    expect((await there.run(["wait", good])).code).toBe(0);
    expect((await there.run(["wait", bad])).code).toBe(1);
    expect((await there.run(["wait", good, bad])).code).toBe(1);
    expect((await there.run(["wait", stuck, "--timeout", "300ms"])).code).toBe(4);
  });

  test("attach shows a run of another process; Ctrl-C detaches and the run continues", async () => {
    const there = fresh({ "turns.json": held("done") });
    const id = await background(there, anyCommand);
    const watching = there.start(["attach", id]);
    await watching.until(`watching ${id} (running)`);
    watching.child.kill("SIGINT");
    const away = await watching.ended;
    expect(away.code).toBe(0);
    expect(away.stderr).toContain(`${id} continues in the background.`);
    const ended = there.start(["attach", id]);
    await ended.until(`watching ${id} (running)`);
    ended.child.kill("SIGTERM");
    expect((await ended.ended).code).toBe(143);
    letGo(there);
    const { code, stdout } = await there.run(["attach", id]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "done\n" });
  });

  test("attach in a terminal asks the person there, and passes the answer to the run", async ({ skip }) => {
    if (tmux.missing !== undefined) return skip(tmux.missing);
    const there = fresh({ "team.json": team, "turns.json": script("the page") });
    const id = await background(there, ["team", "--input", "team.json", "--model", "scripted:turns.json"]);
    const screen = opened(terminal(tmux.path, there, ["attach", id], { columns: 120, rows: 40 }));
    await screen.until("Approve?");
    screen.keys("maybe", "Enter");
    await screen.until("This question does not accept that answer.");
    screen.keys("y", "Enter");
    await screen.until("[exit 0]");
    expect(screen.history()).toContain("The answer was accepted.");
    const answers = (await there.run(["logs", id, "--json"])).stdout
      .split("\n")
      .filter((line) => line.includes("gate.answered"));
    expect(answers.map((line) => JSON.parse(line) as object)).toMatchObject([
      { answer: { approve: true, by: "a person" } },
    ]);
  });

  test("replay shows a run again without a model", async () => {
    const there = fresh({ "turns.json": script("said once") });
    const id = await background(there, ["run", "explore", "x", "--model", "scripted:turns.json"]);
    await there.run(["wait", id]);
    writeFileSync(join(there.workspace, "turns.json"), script("said twice"));
    const { code, stdout, stderr } = await there.run(["replay", id, "--speed", "0"]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "said once\n" });
    expect(stderr).toMatch(/^ok +explore/m);
  });
});

describe.concurrent("deleting runs", () => {
  test("rm refuses a run that is running, and asks before it deletes a paused run", async () => {
    const there = fresh({ "turns.json": forever });
    const id = await background(there, ["run", "explore", "x", "--model", "scripted:turns.json"]);
    const refused = await there.run(["rm", id]);
    expect(refused.code).toBe(3);
    expect(refused.stderr).toContain(`subcrew stop ${id}`);
    await there.run(["stop", id]);
    const folder = join(there.env["SUBCREW_HOME"]!, "runs", id);
    await vi.waitUntil(async () => (await ownerOf(folder)) === undefined, { timeout: 60_000 });
    const claim = join(folder, "owner.1.json");
    for (const isEnding of [true, false]) {
      // A paused run can be resumed, also while its process is still ending.
      if (isEnding) writeFileSync(claim, JSON.stringify(await whoWeAre()));
      const resumable = await there.run(["rm", id]);
      expect([resumable.code, resumable.stderr]).toEqual([2, expect.stringContaining("--yes")]);
      rmSync(claim, { force: true });
    }
    expect((await there.run(["rm", id, "--yes"])).code).toBe(0);
    expect((await there.run(["status", id])).code).toBe(2);
  });

  test("gc deletes old runs and the oldest above the size limit, and keeps running ones", async () => {
    const there = fresh({ "turns.json": script("x".repeat(5_000)), "stuck.json": forever });
    const ids: string[] = [];
    for (let i = 0; i < 3; i++) {
      const id = await background(there, ["run", "explore", "x", "--model", "scripted:turns.json"]);
      await there.run(["wait", id]);
      ids.push(id);
    }
    const running = await background(there, ["run", "explore", "x", "--model", "scripted:stuck.json"]);
    utimesSync(join(runsOf(there), ids[0]!), new Date(0), new Date(0));
    // A process that has just ended its run may still be exiting.
    await vi.waitFor(
      async () => {
        const would = await there.run(["gc", "--older-than", "1ms", "--dry-run", "--json"]);
        expect(json<{ runs: unknown[] }>(would).runs).toHaveLength(3);
      },
      { timeout: 200_000, interval: 100 },
    );
    const much = json<{ runs: { id: string; why: string }[] }>(
      await there.run(["gc", "--max-size", "30KB", "--json", "--yes"]),
    );
    expect(much.runs.map(({ id }) => id)).toEqual(ids.slice(0, much.runs.length));
    expect(much.runs.length).toBeGreaterThanOrEqual(1);
    await there.run(["gc", "--older-than", "1ms", "--yes"]);
    expect(readdirSync(runsOf(there))).toEqual([running]);
  });

  test("ps without any run prints a message, and status of an unknown name is an error", async () => {
    const there = fresh({});
    expect((await there.run(["ps"])).stderr).toBe("No runs yet.\n");
    expect((await there.run(["status", "nothing"])).code).toBe(2);
    expect((await there.run(["status"])).code).toBe(2);
  });
});

test("a background run leaves no process behind when it has ended", async () => {
  const there = fresh({ "turns.json": script("ok") });
  const id = await background(there, ["run", "explore", "x", "--model", "scripted:turns.json"]);
  await there.run(["wait", id]);
  await until(async () => {
    const list = execFileSync("ps", ["-eo", "args"], { encoding: "utf8" });
    return !list.includes(`background-run ${id}`);
  });
});
