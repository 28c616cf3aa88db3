import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { repository, shell } from "../../../test/support/repository.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { until } from "../../../test/support/until.ts";
import { alone } from "../disk/file-lock.ts";
import { keepWorktree, openOrigin, openWorktree, removeWorktree, removeWorktrees } from "./worktree.ts";

const project = (...more: readonly string[]): string =>
  repository("echo one > a.txt && git add . && git commit -qm first", ...more);

async function open(top: string, folder: string): Promise<string> {
  const origin = await openOrigin(top, undefined, undefined);
  if ("unable" in origin) return origin.unable;
  const opened = await openWorktree(folder, origin, false);
  return "unable" in opened ? opened.unable : "open";
}

describe("worktrees of one repository", () => {
  test("are opened and removed in parallel without disturbing each other", async () => {
    const [top, folder] = [project(), tempFolder()];
    const origin = await openOrigin(top, undefined, undefined);
    if ("unable" in origin) throw new Error(origin.unable);
    const lane = async (_: unknown, name: number): Promise<string[]> => {
      const answers: string[] = [];
      for (let round = 0; round < 4; round += 1) {
        const at = join(folder, `${name}-${round}`);
        const opened = await openWorktree(at, origin, false);
        answers.push("unable" in opened ? opened.unable : "open");
        await removeWorktree(at);
      }
      return answers;
    };
    const answers = await Promise.all(Array.from({ length: 6 }, lane));
    expect([...new Set(answers.flat())]).toEqual(["open"]);
    expect([existsSync(join(top, ".git/worktrees")), readdirSync(folder)]).toEqual([false, []]);
    expect(readdirSync(join(top, ".git")).filter((name) => name.includes("lock"))).toEqual([]);
  });

  test("wait for another process that changes the list of worktrees", async () => {
    const [top, at] = [project(), join(tempFolder(), "tree")];
    let opening: Promise<string> | undefined;
    await alone(
      join(top, ".git/subcrew-worktrees.lock"),
      async () => {
        opening = open(top, at);
        await until(() => existsSync(`${at}.json`));
        // Opening a worktree of another repository takes longer than the rest of this opening: without the wait for the
        // other process, this opening would have finished by now.
        expect(await open(project(), join(tempFolder(), "tree"))).toBe("open");
        expect(existsSync(at)).toBe(false);
      },
      new AbortController().signal,
    );
    expect([await opening, existsSync(join(at, "a.txt"))]).toEqual(["open", true]);
  });

  test("are opened only after an entry that another program has half written is complete", async () => {
    const [top, folder] = [project(`git worktree add -q --detach "$PWD.other"`), tempFolder()];
    const [entry] = readdirSync(join(top, ".git/worktrees"));
    const file = join(top, ".git/worktrees", entry!, "commondir");
    const whole = readFileSync(file, "utf8");
    writeFileSync(file, "");
    expect(await open(top, join(folder, "never"))).toContain("commondir");
    const opening = open(top, join(folder, "tree"));
    await until(() => existsSync(join(top, ".git/subcrew-worktrees.lock")));
    writeFileSync(file, whole);
    expect(await opening).toBe("open");
    shell(top, `git worktree remove --force "$PWD.other"`);
  });

  test("of a submodule are removed from the submodule's list of worktrees", async () => {
    const sub = project();
    const top = project(`git -c protocol.file.allow=always submodule --quiet add '${sub}' lib && git commit -qm sub`);
    const at = join(tempFolder(), "tree");
    expect(await open(join(top, "lib"), at)).toBe("open");
    // State after a crash before the worktree's entry was recorded.
    writeFileSync(`${at}.json`, JSON.stringify({ top: join(top, "lib") }));
    await removeWorktree(at);
    expect(existsSync(join(top, ".git/modules/lib/worktrees"))).toBe(false);
  });

  test("that hold the only copy of changes stay until their run is deleted", async () => {
    const [top, folder] = [project(), tempFolder()];
    const [kept, other] = [join(folder, "kept"), join(folder, "other")];
    expect([await open(top, kept), await open(top, other)]).toEqual(["open", "open"]);
    await keepWorktree(kept);
    await removeWorktrees(folder);
    expect([existsSync(join(kept, "a.txt")), existsSync(other)]).toEqual([true, false]);
    await removeWorktrees(folder, { all: true });
    expect([existsSync(folder), existsSync(join(top, ".git/worktrees"))]).toEqual([false, false]);
  });

  test("of a repository that is gone are removed, and nothing is created in its place", async () => {
    const [top, at] = [project(), join(tempFolder(), "tree")];
    expect(await open(top, at)).toBe("open");
    shell(top, "rm -rf .git");
    await removeWorktree(at);
    expect([existsSync(at), existsSync(join(top, ".git"))]).toEqual([false, false]);
  });
});
