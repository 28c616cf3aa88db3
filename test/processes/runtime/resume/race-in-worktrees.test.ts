import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { shell } from "../../../support/repository.ts";
import { place, script } from "../../command.ts";

const writes = (name: string): string =>
  script({ calls: [{ name: "write_file", input: { path: `${name}.txt`, content: name } }] }, `${name} is done`);

test("a race in worktrees that is killed after its winner is recorded changes the workspace only for that winner", async () => {
  const there = place({ "left.json": writes("left"), "right.json": writes("right") });
  shell(
    there.workspace,
    "git init -q && git config user.name a && git config user.email a@b.c && git add . && git commit -qm first",
  );
  const race = "race Go --models scripted:left.json,scripted:right.json --isolation worktree --name it";
  const asked = [...race.split(" "), "--permission-mode", "acceptEdits"];
  // The winner is recorded, its changes are applied, and its end is not recorded yet.
  const { ended, until, child } = there.start([...asked, "--json"]);
  await until(/"type":"node\.won"/);
  child.kill("SIGKILL");
  await ended;
  const { stdout } = await there.run(["resume", "it"]);
  const winner = /^(left|right) is done/.exec(stdout)?.[1];
  expect(winner).toBeDefined();
  const files = ["left", "right"].filter((name) => existsSync(join(there.workspace, `${name}.txt`)));
  expect(files).toEqual([winner]);
  expect(shell(there.workspace, "git worktree list | wc -l").trim()).toBe("1");
});
