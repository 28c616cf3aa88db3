import { readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { artifactOf } from "./artifact-of.ts";
import { machineDisk } from "./disk.ts";
import { openHashedTexts } from "./hashed-texts.ts";

const [old, now] = ["{}", '{"name":"a"}'].map((text) => [artifactOf(text).hash, text] as const) as [
  readonly [string, string],
  readonly [string, string],
];

test("texts that were last kept before a time are deleted", async () => {
  const folder = tempFolder();
  await openHashedTexts(folder, machineDisk).keep(new Map([old, now]));
  for (const [hash] of [old, now]) utimesSync(join(folder, `${hash}.json`), 1_000, 1_000);
  const files = openHashedTexts(folder, machineDisk);
  await files.keep(new Map([now]));
  await files.sweep(Date.now());
  expect(readdirSync(folder)).toEqual([`${now[0]}.json`]);
});

test("a damaged text counts as missing, and is repaired when it is kept again", async () => {
  const folder = tempFolder();
  writeFileSync(join(folder, `${now[0]}.json`), "");
  const files = openHashedTexts(folder, machineDisk);
  expect(await files.read([now[0]])).toEqual(new Map());
  await files.keep(new Map([now]));
  expect(await files.read([now[0]])).toEqual(new Map([now]));
});
