import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { place, type Place } from "../../command.ts";

/** A project beside a home folder with a start-up file and a folder of secrets, and links to them. */
function linked(): Place {
  const here = place({ "answer.json": '["EVIL"]', "results/.keep": "", ".git/HEAD": "" });
  mkdirSync(join(here.home, ".ssh"));
  mkdirSync(join(here.home, "data"));
  writeFileSync(join(here.home, ".bashrc"), "mine\n");
  writeFileSync(join(here.home, ".ssh/schema.json"), '{"type":"object","title":"SECRET"}');
  writeFileSync(join(here.home, ".ssh/input.yaml"), 'tasks: [{agent: explore, task: "SECRET"}]');
  writeFileSync(join(here.home, "data/schema.json"), '{"type":"string"}');
  const link = (name: string, target: string): void => symlinkSync(target, join(here.workspace, name));
  link("report.md", join(here.home, ".bashrc"));
  link("new.md", "../home/.ssh/authorized_keys");
  link("keys", join(here.home, ".ssh"));
  link("hook.md", ".git/hook");
  link("latest", "results");
  link("schema.json", "keys/schema.json");
  link("input.yaml", join(here.home, ".ssh/input.yaml"));
  link("open.json", join(here.home, "data/schema.json"));
  return here;
}

const explore = ["run", "explore", "go", "--model", "scripted:answer.json"];

test.each(["report.md", "new.md", "keys/new", "hook.md", "./results/../report.md"])(
  "--output-file does not write through a link of the project: %s",
  async (file) => {
    const here = linked();
    const { code, stderr } = await here.run([...explore, "--output-file", file]);
    expect({ code, named: stderr.includes("a symbolic link in this project leads") }).toEqual({ code: 2, named: true });
    expect(readFileSync(join(here.home, ".bashrc"), "utf8")).toBe("mine\n");
    expect(
      ["home/.ssh/authorized_keys", "home/.ssh/new", "work/.git/hook"].filter((name) =>
        existsSync(join(here.home, "..", name)),
      ),
    ).toEqual([]);
  },
);

test("--output-file writes through a link within the project, and to a path outside without a link", async () => {
  const here = linked();
  await here.run([...explore, "--output-file", "latest/a.md"]);
  await here.run([...explore, "--output-file", "../home/data/b.md"]);
  expect(readFileSync(join(here.workspace, "results/a.md"), "utf8")).toContain("EVIL");
  expect(readFileSync(join(here.home, "data/b.md"), "utf8")).toContain("EVIL");
});

test.each([
  [...explore, "--schema", "schema.json"],
  [...explore, "--schema", "keys/schema.json"],
  ["run", "--input", "input.yaml", "--model", "scripted:answer.json"],
])("a link of the project to a secret place is not read: %s %s %s %s %s %s %s", async (...args) => {
  const { code, stdout, stderr } = await linked().run([...args, "--json"]);
  expect({ code, read: (stdout + stderr).includes("SECRET") }).toEqual({ code: 2, read: false });
  expect(stdout + stderr).toContain("leads to a secret place (.ssh)");
});

test("a project in a home folder that is a repository is no exception", async () => {
  const here = linked();
  const project = join(here.home, "project");
  mkdirSync(join(here.home, ".git"));
  mkdirSync(project);
  symlinkSync("../.ssh/schema.json", join(project, "schema.json"));
  symlinkSync("../.foorc", join(project, "report.md"));
  const scripted = ["run", "explore", "go", "--model", `scripted:${join(here.workspace, "answer.json")}`];
  const read = await here.run([...scripted, "--schema", "schema.json"], { cwd: project });
  const written = await here.run([...scripted, "--output-file", "report.md"], { cwd: project });
  expect([read.code, written.code, existsSync(join(here.home, ".foorc"))]).toEqual([2, 2, false]);
});

test("a link of the project to an ordinary file is read", async () => {
  const { code } = await linked().run([...explore, "--schema", "open.json"]);
  expect(code).not.toBe(2);
});
