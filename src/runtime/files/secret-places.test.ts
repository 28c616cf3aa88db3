import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
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
