import { expect, test } from "vitest";
import { createFolderStore } from "../../../src/runtime/store/folder-store.ts";
import { createMemoryStore } from "../../../src/runtime/store/memory-store.ts";
import { tempFolder } from "../../support/temp-folder.ts";
import { storeSuite } from "./suite.ts";

storeSuite("a folder", () => createFolderStore(tempFolder()));
storeSuite("memory", () => createMemoryStore());

test.each(["../secret", "..", "a/b", "a\\b", "\0", ".hidden"])("the id %j leads nowhere", async (id) => {
  const store = createFolderStore(tempFolder());
  await expect(store.document(id, "request")).rejects.toMatchObject({ code: "UNKNOWN_RUN" });
  await expect(store.remove(id)).rejects.toMatchObject({ code: "UNKNOWN_RUN" });
});

test("memory forgets the oldest of more than a hundred ended runs, and no other", async () => {
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
