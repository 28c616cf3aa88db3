import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Fact } from "../../src/core/run/event.ts";
import type { Call, Parent, PerformContext, ReturnedChanges } from "../../src/core/task/engine.ts";
import { taskContext } from "../../src/core/task/task-context.ts";
import { type HandedFiles, shareWithHelpers } from "../../src/crew/engine/share-with-helpers.ts";
import { packed, unpacked } from "../../src/runtime/git/shared-workspace.ts";
import { openOrigin } from "../../src/runtime/git/worktree.ts";
import { createMemoryStore } from "../../src/runtime/store/memory-store.ts";
import { repository, shell } from "../support/repository.ts";

const call = { run: "run_files0000000", path: "lead", attempt: 1 } as Call;
const parent: Parent = { spawns: "*", model: "m" };

/**
 * A task in a worktree, whose helper applies `patch` to a clone of the first commit and of the changes that the task
 * shared.
 */
async function lead(patch: string) {
  const folder = repository("printf 'one\\ntwo\\nthree\\n' > a.txt", "git add .", "git commit -qm one");
  const origin = await openOrigin(folder, undefined, undefined);
  if ("unable" in origin) throw new Error(origin.unable);
  const commit = shell(folder, "git rev-parse HEAD").trim();
  const store = createMemoryStore();
  const emitted: Fact[] = [];
  const seen: (string | undefined)[] = [];
  const returned: ReturnedChanges[] = [];
  const tree = { ...origin, tree: { folder, gitDir: join(folder, ".git") } };
  const sharing = shareWithHelpers({
    call,
    store,
    inTurn: (work) => work(),
    treeOf: async () => ({ origin: tree, commit, prefix: "", at: folder, isReachable: false }),
  });
  const context = taskContext(
    {
      emit: (fact: Fact) => emitted.push(fact),
      returned: async () => returned,
      budget: { reserve: async () => ({ settle: () => {}, release: () => {} }) },
      delegate: async (_: object, given: Parent) => {
        const files = { kind: "files", hash: given.filesOf ?? "" } as const;
        const handed = JSON.parse((await store.output(call.run, "lead", files))!) as HandedFiles;
        seen.push(handed.dirty && unpacked(handed.dirty).toString());
        const text = JSON.stringify({ patch: packed(Buffer.from(patch)) });
        const { hash } = await store.keep(call.run, "lead/aide", text, "progress");
        returned.push({ path: "lead/aide", hash });
        return { status: "ok", output: "helped" };
      },
    } as unknown as PerformContext,
    { sharing: sharing.layer },
  );
  return {
    write: (text: string) => writeFileSync(join(folder, "a.txt"), text),
    read: () => readFileSync(join(folder, "a.txt"), "utf8"),
    sharing,
    context,
    emitted,
    seen,
  };
}

const patchOf = (before: string, after: string): string => `diff --git a/a.txt b/a.txt
--- a/a.txt
+++ b/a.txt
@@ -1,3 +1,3 @@
-${before}
+${after}
 two
 three
`;

test("a helper gets the uncommitted files of its parent, and its changes are applied to them once, when it has ended", async () => {
  const { write, read, sharing, context, seen } = await lead(patchOf("ONE", "helped"));
  write("ONE\ntwo\nthree\n");
  expect(await context.delegate({} as never, parent)).toMatchObject({ status: "ok", output: "helped" });
  expect(seen).toEqual([expect.stringContaining("+ONE")]);
  expect(read()).toBe("helped\ntwo\nthree\n");
  write("ONE\ntwo\nthree\n"); // the parent reverts the change
  await sharing.takeIn();
  await context.budget.reserve(
    { tokens: 1, finish: false, cut: { tokens: 1 } },
    () => {},
    new AbortController().signal,
  );
  expect([read(), sharing.taken()]).toEqual(["ONE\ntwo\nthree\n", ["lead/aide"]]);
});

test("changes of a helper that conflict are not applied: the delegation fails, and the error names the command that applies them", async () => {
  const { read, context, emitted } = await lead(patchOf("something else", "helped"));
  const outcome = await context.delegate({} as never, parent);
  expect(outcome).toMatchObject({ status: "failed", fault: { code: "CONFLICT" } });
  expect(emitted).toEqual([
    expect.objectContaining({
      type: "warning",
      code: "CHANGES_KEPT",
      text: expect.stringContaining("subcrew apply run_files0000000/lead/aide"),
    }),
  ]);
  expect(read()).toBe("one\ntwo\nthree\n");
});
