import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { until as eventually } from "../../../support/until.ts";
import { type Place, place, script, type Started } from "../../command.ts";

/** Starts a program in a pid namespace of its own, as a container does; `--kill-child`: it ends with `unshare`. */
const container = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child", "--mount-proc"];
const works = spawnSync(container[0]!, [...container.slice(1), "true"]).status === 0;

const stuck = script({ text: "late", delayMs: 600_000 });
const args = ["run", "explore", "x", "--model", "scripted:turns.json"];

type Listed = Readonly<{ id: string; status: string; doing: string; host?: string; pidNamespace?: string }>;

const listed = async (there: Place): Promise<Listed | undefined> =>
  (JSON.parse((await there.run(["ps", "--json"])).stdout || "[]") as Listed[])[0];

/** A run that works in another pid namespace, and its folder. */
async function runningElsewhere(there: Place): Promise<{ started: Started; id: string; folder: string }> {
  const started = there.start(args, { through: container });
  await eventually(async () => (await listed(there))?.doing === "thinking");
  const { id } = (await listed(there))!;
  return { started, id, folder: join(there.env["SUBCREW_HOME"]!, "runs", id) };
}

describe.skipIf(!works)("a run in another pid namespace with the same host name and state folder", () => {
  test("is shown as running, is not taken over, deleted or resumed by force, and can be stopped from here", async () => {
    const there = place({ "turns.json": stuck });
    const { started, id } = await runningElsewhere(there);
    expect(await listed(there)).toMatchObject({ status: "running", pidNamespace: expect.stringMatching(/^pid:/) });
    for (const refused of [
      ["resume", id],
      ["resume", id, "--force"],
      ["rm", id, "--yes"],
      ["gc", "--older-than", "1ms", "--unfinished", "--yes"],
    ])
      expect([refused[0], (await there.run(refused)).code]).toEqual([refused[0], refused[0] === "gc" ? 0 : 3]);
    expect((await listed(there))?.status).toBe("running");
    expect((await there.run(["stop", id])).code).toBe(0);
    await started.ended;
    expect((await listed(there))?.status).toBe("paused");
  });

  test("is killed by its own process, not by a pid of this namespace", async () => {
    const there = place({ "turns.json": stuck });
    const { started, id } = await runningElsewhere(there);
    expect((await there.run(["kill", id])).code).toBe(0);
    await started.ended;
    expect((await listed(there))?.status).toBe("interrupted");
  });

  test.each(["short", "long"])("is dead for every namespace once its process is killed (%s path)", async (length) => {
    const long = length === "long" ? `${"x".repeat(120)}/` : "";
    const there = place({ "turns.json": stuck });
    const env = { SUBCREW_HOME: join(there.home, `${long}state`) };
    const inPlace: Place = { ...there, env: { ...there.env, ...env }, run: (args_) => there.run(args_, { env }) };
    const started = there.start(args, { through: container, env });
    await eventually(async () => (await listed(inPlace))?.doing === "thinking");
    const { id } = (await listed(inPlace))!;
    started.child.kill("SIGKILL");
    await started.ended;
    await eventually(async () => (await listed(inPlace))?.status === "interrupted");
    expect(readdirSync(join(env.SUBCREW_HOME, "runs", id))).toContain("live.owner.1.sock");
    writeFileSync(join(there.workspace, "turns.json"), script("Found it."));
    const resumed = await there.run(["resume", id], { env, through: container });
    expect([resumed.code, resumed.stdout]).toEqual([0, "Found it.\n"]);
    expect(readdirSync(join(env.SUBCREW_HOME, "runs", id)).filter((name) => name.endsWith(".sock"))).toEqual([]);
  });

  test("counts as alive where no socket can be reached: ps says where, and only --force resumes it", async () => {
    const there = place({ "turns.json": stuck });
    const { started, id, folder } = await runningElsewhere(there);
    started.child.kill("SIGKILL");
    await started.ended;
    rmSync(join(folder, "live.owner.1.sock")); // as on a file system without sockets
    const claim = JSON.parse(readFileSync(join(folder, "owner.1.json"), "utf8")) as object;
    writeFileSync(join(folder, "owner.1.json"), JSON.stringify({ ...claim, host: "build-7" }));
    writeFileSync(join(there.workspace, "turns.json"), script("Found it."));
    expect(await listed(there)).toMatchObject({ status: "running", host: "build-7" });
    expect((await listed(there))?.doing).toMatch(new RegExp(`"build-7".*subcrew resume ${id} --force`));
    expect((await there.run(["resume", id])).code).toBe(3);
    expect((await there.run(["rm", id, "--yes"])).code).toBe(3);
    expect(existsSync(folder)).toBe(true);
    expect((await there.run(["resume", id, "--force"])).stdout).toBe("Found it.\n");
  });
});
