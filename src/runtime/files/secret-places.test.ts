import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { createClosedPlaces } from "./secret-places.ts";

test("secret places of other users are hidden from commands of every user who can read them", () => {
  const homes = tempFolder();
  for (const file of ["me/.netrc", "bob/.netrc", "bob/.config/tool/credentials", "bob/notes.txt", "carol/.pypirc"]) {
    mkdirSync(dirname(join(homes, file)), { recursive: true });
    writeFileSync(join(homes, file), "x");
  }
  const workspace = join(homes, "me");
  const closed = createClosedPlaces({
    homes: [workspace],
    othersIn: [homes],
    state: join(homes, "s"),
    workspace,
    env: {},
  });
  const hidden = closed.existing().files.filter((file) => file.startsWith(homes));
  expect(hidden.map((file) => file.slice(homes.length + 1)).toSorted()).toEqual([
    "bob/.config/tool/credentials",
    "bob/.netrc",
    "carol/.pypirc",
    "me/.netrc",
  ]);
});

test("a mount of the state folder or of a secret place that is made while a run works is as closed as the place", async (context) => {
  const top = tempFolder({ "home/.ssh/id_rsa": "x", "state/journal": "x", "work/a/x": "", "work/b/x": "" });
  const [home, state, workspace] = ["home", "state", "work"].map((name) => join(top, name)) as [string, string, string];
  const [one, other] = [join(workspace, "a"), join(workspace, "b")];
  const closed = createClosedPlaces({ homes: [home], othersIn: [], state, workspace, env: {} });
  expect([closed.at(join(one, "journal")), closed.at(join(other, "id_rsa"))]).toEqual([undefined, undefined]);
  expect([closed.touches(workspace), closed.existing().folders.includes(one)]).toEqual([false, false]);
  if (!bind(state, one) || !bind(join(home, ".ssh"), other))
    context.skip("a folder cannot be mounted here: that needs root");
  await expect.poll(() => closed.at(join(one, "journal")), { timeout: 20_000 }).toEqual({ kind: "state", name: state });
  expect(closed.at(join(other, "id_rsa"))).toEqual({ kind: "secret", name: other });
  expect(closed.touches(workspace)).toBe(true);
  expect(closed.existing().folders).toEqual(expect.arrayContaining([one, other]));
});

/** Shows a folder at another path; false where mounting is not permitted. */
function bind(folder: string, at: string): boolean {
  try {
    execFileSync("mount", ["--bind", folder, at], { stdio: "ignore" });
    onTestFinished(() => void execFileSync("umount", ["-l", at]));
    return true;
  } catch {
    return false;
  }
}
