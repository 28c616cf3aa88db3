import { readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { MAX_ENTRY_BYTES, type Memory, type MemoryEntry, openMemory } from "./memory.ts";

// The cases of the area "memory-workspace"; MEM-04 is about the shared workspace of a team and is tested there.

const { signal } = new AbortController();
const me = { by: "run_a/scout (explore)", project: "/ws" };
const fresh = (home = tempFolder(), project = "/ws"): Memory =>
  openMemory({ home, project, clock: () => 0, redact: (text) => text });
const append = (memory: Memory, key: string, text: string): Promise<MemoryEntry> =>
  memory.change("project", key, (now) => `${now?.text ?? ""}${text}`, me, signal);

test("a memory note is read back with its author", async () => {
  const memory = fresh();
  await append(memory, "plan", "one");
  await memory.change(
    "project",
    "plan",
    (now) => `${now?.text}, two`,
    { by: "run_b/lead (general)", project: "/ws" },
    signal,
  );
  expect(await memory.read("project", "plan")).toEqual({
    key: "plan",
    revision: 2,
    at: "1970-01-01T00:00:00.000Z",
    text: "one, two",
    bytes: 8,
    origins: [{ by: "run_b/lead (general)", project: "/ws" }, me],
  });
  expect(await memory.list("project")).toMatchObject([{ key: "plan", revision: 2 }]);
});

test("projects do not see each other's memory notes, and both see the user's", async () => {
  const home = tempFolder();
  const [one, other] = [fresh(home, tempFolder()), fresh(home, tempFolder())];
  await append(one, "mine", "x");
  await one.change("user", "ours", () => "y", me, signal);
  expect(await other.read("project", "mine")).toBeUndefined();
  expect(await other.list("project")).toEqual([]);
  expect(await other.read("user", "ours")).toMatchObject({ text: "y" });
});

test("the memory notes of a project are found by any path to the project", async () => {
  const [home, project, place] = [tempFolder(), tempFolder(), tempFolder()];
  symlinkSync(project, join(place, "link"));
  await append(fresh(home, project), "a", "x");
  expect(await fresh(home, join(place, "link")).read("project", "a")).toMatchObject({ text: "x" });
});

test("a change of a memory note that throws stores nothing", async () => {
  const home = tempFolder();
  const memory = fresh(home);
  await expect(
    memory.change(
      "project",
      "a",
      () => {
        throw new Error("no");
      },
      me,
      signal,
    ),
  ).rejects.toThrow("no");
  expect(await memory.read("project", "a")).toBeUndefined();
  expect(readdirSync(home)).toEqual([]);
});

test("MEM-02: concurrent writers in one process lose no change", async () => {
  const memory = fresh();
  await Promise.all(
    Array.from({ length: 8 }, (_, writer) =>
      Promise.all(Array.from({ length: 25 }, (_, n) => append(memory, "log", `${writer}.${n}\n`))),
    ),
  );
  const { text, revision } = (await memory.read("project", "log"))!;
  expect(revision).toEqual(200);
  expect(new Set(text.trim().split("\n")).size).toEqual(200);
});

test("MEM-02: independent writers lose no change either, and readers never see a partial note", async () => {
  const home = tempFolder();
  const writers = Array.from({ length: 8 }, () => fresh(home));
  let writing = true;
  const reading = (async () => {
    const reader = fresh(home);
    for (let last = 0; writing; ) {
      const note = await reader.read("project", "log");
      const lines = note?.text.split("\n").slice(0, -1) ?? [];
      expect(lines.every((line) => /^\d\.\d+$/.test(line))).toBe(true);
      expect(lines.length).toEqual(note?.revision ?? 0);
      expect(lines.length).toBeGreaterThanOrEqual(last);
      last = lines.length;
    }
  })();
  await Promise.all(
    writers.map(async (memory, writer) => {
      for (let n = 0; n < 25; n += 1) await append(memory, "log", `${writer}.${n}\n`);
    }),
  );
  writing = false;
  await reading;
  const { text } = (await fresh(home).read("project", "log"))!;
  expect(new Set(text.trim().split("\n")).size).toEqual(200);
});

test.each([
  "../../etc/passwd",
  "/etc/passwd",
  "..",
  ".",
  "a/../b",
  "a//b",
  "C:\\..\\x",
  "a\0b",
  "a\nb",
  " a",
  "a ",
  "",
  "\u202ea",
  "x".repeat(121),
  "\ud800",
])("MEM-01: the key %j is refused", async (key) => {
  const home = tempFolder();
  await expect(append(fresh(home), key, "x")).rejects.toThrow("a key");
  await expect(fresh(home).read("project", key)).rejects.toThrow("a key");
  expect(readdirSync(home)).toEqual([]);
});

test.each([
  "notes/today",
  "C:\\temp",
  "__proto__",
  "constructor",
  "CON",
  "~",
  "-rf",
  "a.b",
  "$HOME",
  "%2e%2e%2f",
  "\u00fc",
  "plan 2",
])("MEM-01: the key %j is accepted", async (key) => {
  const home = tempFolder();
  const memory = fresh(home);
  await append(memory, key, "x");
  expect(await memory.read("project", key)).toMatchObject({ key, text: "x" });
  const files = readdirSync(home, { recursive: true, encoding: "utf8" });
  expect(files.every((file) => /^[a-z0-9~/-]+$/.test(file))).toBe(true);
});

test("keys of memory notes that differ only in case are different notes", async () => {
  const memory = fresh();
  await append(memory, "Plan", "x");
  await append(memory, "plan", "y");
  expect((await memory.list("project")).map(({ key }) => key)).toEqual(["Plan", "plan"]);
});

test("MEM-03: the size of a note is limited", async () => {
  const memory = fresh();
  await expect(append(memory, "a", "x".repeat(MAX_ENTRY_BYTES + 1))).rejects.toThrow("at most 64000 bytes");
  expect(await memory.read("project", "a")).toBeUndefined();
});

test("unknown files in the folder of memory notes are ignored", async () => {
  const home = tempFolder();
  const memory = fresh(home);
  await append(memory, "a", "x");
  const folder = join(home, "memory", readdirSync(join(home, "memory"))[0]!);
  writeFileSync(join(folder, "README"), "hello");
  expect(await memory.list("project")).toMatchObject([{ key: "a" }]);
  expect(readFileSync(join(folder, "README"), "utf8")).toEqual("hello");
});
