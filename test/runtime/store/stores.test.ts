import { readdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { expect, test } from "vitest";
import { createFolderStore } from "../../../src/runtime/store/folder-store.ts";
import { createMemoryStore } from "../../../src/runtime/store/memory-store.ts";
import { tempFolder } from "../../support/temp-folder.ts";
import { storeSuite } from "./suite.ts";

const RUN = "run_files0000000";

storeSuite("a folder", () => createFolderStore(tempFolder()));
storeSuite("memory", () => createMemoryStore());

test.each(["../secret", "..", "a/b", "a\\b", "\0", ".hidden"])("the id %j matches no run", async (id) => {
  const store = createFolderStore(tempFolder());
  await expect(store.document(id, "request")).rejects.toMatchObject({ code: "UNKNOWN_RUN" });
  await expect(store.remove(id)).rejects.toMatchObject({ code: "UNKNOWN_RUN" });
});

test("an output file is written on request: at once if the output is about to be recorded, otherwise later from the records", async () => {
  const home = tempFolder();
  const store = createFolderStore(home);
  const journal = await store.open(RUN, { kept: () => {}, lost: () => {} });
  const early = (await store.file(RUN, "early")) ?? "";
  expect(readFileSync(early, "utf8")).toBe(`"early" of ${RUN} has no result yet. See \`subcrew status ${RUN}\`.\n`);
  expect(await store.output(RUN, "early")).toBeUndefined();
  await Promise.all([store.recorded(RUN, "early", "soon"), store.recorded(RUN, "late", "later")]);
  expect(readFileSync(early, "utf8")).toBe("soon\n");
  expect(readdirSync(dirname(early))).toEqual(["early.md"]);
  expect(readFileSync((await store.file(RUN, "late")) ?? "", "utf8")).toBe("later\n");
  const outcome = { status: "ok", output: "of the records" } as const;
  journal.append({ seq: 1, run: RUN, path: "written", at: 1, type: "node.ended", outcome });
  await journal.close();
  const other = createFolderStore(home);
  expect(readFileSync((await other.file(RUN, "written")) ?? "", "utf8")).toBe("of the records\n");
});

test("the store in memory deletes the oldest of more than a hundred ended runs, and no other run", async () => {
  const store = createMemoryStore();
  const ends = async (run: string, type: "run.ended" | "run.paused"): Promise<void> => {
    const journal = await store.open(run, { kept: () => {}, lost: () => {} });
    const outcome = { status: "ok", output: "" } as const;
    journal.append(
      type === "run.ended"
        ? { seq: 1, run, path: "", at: 0, type, outcome }
        : { seq: 1, run, path: "", at: 0, type, reason: "later" },
    );
    await journal.close();
  };
  await ends("paused", "run.paused");
  for (let n = 1; n <= 101; n += 1) await ends(`run ${n}`, "run.ended");
  const left = await store.list();
  expect([left.length, left.includes("paused"), left.includes("run 1"), left.includes("run 2")]).toEqual([
    101,
    true,
    false,
    true,
  ]);
});
