import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isAlive } from "../../../support/is-alive.ts";
import { place, script } from "../../command.ts";

test("the hook of the end of a run is carried out although its process ends at once", async () => {
  const { start, run, workspace } = place({ "turns.json": script("The answer.") });
  const hook = `until test -e go; do sleep 0.05; done; cat > ended.json`;
  expect(await run(["config", "set", "on.run.ended", hook])).toMatchObject({ code: 0 });
  const { until, ended, child } = start(["run", "explore", "x", "--model", "scripted:turns.json"]);
  await until("The answer.");
  expect(existsSync(join(workspace, "ended.json"))).toBe(false);
  expect(isAlive(child.pid!)).toBe(true);
  writeFileSync(join(workspace, "go"), "");
  expect(await ended).toMatchObject({ code: 0 });
  expect(JSON.parse(readFileSync(join(workspace, "ended.json"), "utf8"))).toMatchObject({ type: "run.ended" });
});

test("keys of hooks with a dot are set, listed with their line, suggested and removed", async () => {
  const { run, env } = place();
  const file = join(env["SUBCREW_HOME"] ?? "", "config.yaml");
  await run(["config", "set", "on.run.ended", "cheer"]);
  expect(readFileSync(file, "utf8")).toBe("on:\n  run.ended: cheer\n");
  await run(["config", "set", "on.needs-you", "beep"]);
  const list = await run(["config", "list", "--json"], { env: { SUBCREW_ON_LIMIT_REACHED: "https://push.example/x" } });
  expect(JSON.parse(list.stdout)).toEqual([
    { key: "on.needs-you", value: "beep", from: `${file}:3` },
    { key: "on.run.ended", value: "cheer", from: `${file}:2` },
    { key: "on.limit.reached", value: "https://push.example/x", from: "variable" },
  ]);
  expect((await run(["config", "set", "on.run.end", "x"])).stderr).toContain('Did you mean "on.run.ended"?');
  await run(["config", "unset", "on.run.ended"]);
  expect(readFileSync(file, "utf8")).toBe("on:\n  needs-you: beep\n");
});
