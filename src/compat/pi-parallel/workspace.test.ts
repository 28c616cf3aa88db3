import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, test } from "vitest";
import { shell } from "../../../test/support/repository.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { cleanupWorkspace, createWorkspace, type Workspace, writeTaskResult } from "./workspace.ts";

/** All results in the workspace: output by id. */
function results({ tasksDir }: Workspace): Record<string, string> {
  const files = readdirSync(tasksDir).map((file) => JSON.parse(readFileSync(join(tasksDir, file), "utf8")));
  return Object.fromEntries(files.map(({ id, output }) => [id, output]));
}

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

describe("createWorkspace", () => {
  test("two workspaces of one name are two folders", () => {
    const root = tempFolder();
    expect(createWorkspace("team", root).root).not.toBe(createWorkspace("team", root).root);
  });

  test("only the owner can read it", () => {
    const { root, tasksDir, artifactsDir } = createWorkspace("team", tempFolder());
    expect([root, tasksDir, artifactsDir].map(modeOf)).toEqual(["700", "700", "700"]);
  });

  test("a name cannot lead outside of the folder", () => {
    const root = tempFolder();
    const workspace = createWorkspace("../../x/y\u0000", root);
    expect(readdirSync(root)).toEqual([basename(workspace.root)]);
    expect(basename(workspace.root)).toMatch(/^subcrew-______x_y_-.{6}$/);
  });
});

describe("writeTaskResult", () => {
  test("writing again replaces the result and leaves no draft behind", () => {
    const workspace = createWorkspace("team", tempFolder());
    writeTaskResult(workspace, "a", "first", "failed");
    writeTaskResult(workspace, "a", "second", "completed");
    expect(readdirSync(workspace.tasksDir)).toEqual(["a.json"]);
    expect(results(workspace)).toEqual({ a: "second" });
    expect(modeOf(join(workspace.tasksDir, "a.json"))).toBe("600");
  });

  test("ids that map to the same file name keep their own results, in any order and when written again", () => {
    const ids = [
      "plan:review",
      "plan/review",
      "plan_review",
      "plan review",
      "",
      "_",
      `${"x".repeat(120)}1`,
      `${"x".repeat(120)}2`,
    ];
    for (const order of [ids, ids.toReversed()]) {
      const workspace = createWorkspace("team", tempFolder());
      for (const id of order) writeTaskResult(workspace, id, `old ${id}`, "completed");
      for (const id of order) writeTaskResult(workspace, id, `new ${id}`, "completed");
      expect(results(workspace)).toEqual(Object.fromEntries(ids.map((id) => [id, `new ${id}`])));
    }
  });

  test("the documented file name goes to the first task that needs it", () => {
    const workspace = createWorkspace("team", tempFolder());
    writeTaskResult(workspace, "a:b", "x", "completed");
    writeTaskResult(workspace, "a_b", "y", "completed");
    expect(readdirSync(workspace.tasksDir)).toEqual([expect.stringMatching(/^a_b-[0-9a-f]{12}\.json$/), "a_b.json"]);
  });

  test("ids with dots and slashes stay in the folder", () => {
    const root = tempFolder();
    const workspace = createWorkspace("team", root);
    for (const id of ["..", ".", "../../escape", "/etc/passwd"]) writeTaskResult(workspace, id, id, "completed");
    expect(readdirSync(root)).toEqual([basename(workspace.root)]);
    expect(readdirSync(workspace.tasksDir)).toHaveLength(4);
  });

  test("MEM-04: a link that a member placed at a result's name is not followed, read or destroyed", () => {
    const root = tempFolder({ "victim.txt": "untouched" });
    const workspace = createWorkspace("team", root);
    symlinkSync(join(root, "victim.txt"), join(workspace.tasksDir, "link.json"));
    shell(workspace.tasksDir, "mkfifo pipe.json");
    writeFileSync(join(workspace.tasksDir, "junk.json"), "not json");
    mkdirSync(join(workspace.tasksDir, "folder.json"));
    for (const id of ["link", "pipe", "junk", "folder"]) writeTaskResult(workspace, id, "x", "completed");
    expect(readFileSync(join(root, "victim.txt"), "utf8")).toBe("untouched");
    expect(readFileSync(join(workspace.tasksDir, "junk.json"), "utf8")).toBe("not json");
    const own = readdirSync(workspace.tasksDir).filter((file) => /-[0-9a-f]{12}\.json$/.test(file));
    expect(own).toHaveLength(4);
  });

  test("a results folder that became a link is refused", () => {
    const root = tempFolder({ "elsewhere/x": "" });
    const workspace = createWorkspace("team", root);
    rmSync(workspace.tasksDir, { recursive: true });
    symlinkSync(join(root, "elsewhere"), workspace.tasksDir);
    expect(() => writeTaskResult(workspace, "a", "x", "completed")).toThrow("is not a folder");
    expect(readdirSync(join(root, "elsewhere"))).toEqual(["x"]);
  });
});

describe("cleanupWorkspace", () => {
  test("removes links without following them, and may be called twice", () => {
    const root = tempFolder({ "kept/file": "" });
    const workspace = createWorkspace("team", root);
    symlinkSync(join(root, "kept"), join(workspace.artifactsDir, "link"));
    cleanupWorkspace(workspace);
    cleanupWorkspace(workspace);
    expect(existsSync(workspace.root)).toBe(false);
    expect(existsSync(join(root, "kept/file"))).toBe(true);
  });

  test("refuses a folder that is not a workspace", () => {
    const root = tempFolder({ "home/file": "" });
    expect(() => cleanupWorkspace({ root: join(root, "home"), tasksDir: "", artifactsDir: "" })).toThrow(
      "not a workspace",
    );
    expect(existsSync(join(root, "home/file"))).toBe(true);
  });
});
