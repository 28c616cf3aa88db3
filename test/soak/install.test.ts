import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../support/temp-folder.ts";

const root = join(import.meta.dirname, "../..");
const at = (cwd: string, file: string, ...args: readonly string[]): string =>
  execFileSync(file, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });

/** A person who has just installed the command: an empty home folder, and a folder with one file. */
function firstAnswer(prefix: string): string {
  const home = tempFolder({ "work/notes.txt": "The plants were watered on Monday.\n" });
  const env = { PATH: `${join(prefix, "bin")}:${process.env["PATH"] ?? ""}`, HOME: home };
  const subcrew = (...args: readonly string[]): string =>
    execFileSync("subcrew", args, {
      cwd: join(home, "work"),
      env,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
  expect(subcrew("--version")).toMatch(/^\d+\.\d+\.\d+\n$/);
  return subcrew("run", "explore", "When were the plants watered?");
}

test("a clone can be installed as README says", () => {
  const folder = tempFolder();
  const [clone, prefix] = [join(folder, "clone"), join(folder, "prefix")];
  at(folder, "git", "clone", "--quiet", root, clone);
  at(clone, "npm", "ci", "--no-audit", "--no-fund");
  at(clone, "npm", "run", "build");
  at(clone, "npm", "install", "--global", "--prefix", prefix, ".");
  expect(firstAnswer(prefix)).toContain("notes.txt:1");
}, 2_400_000);

test("npm installs the packed tarball: the command on the path, and the library in a project", () => {
  const folder = tempFolder();
  const [{ filename }] = JSON.parse(at(root, "npm", "pack", "--json", "--pack-destination", folder)) as [
    { filename: string },
  ];
  const tarball = join(folder, filename);
  at(folder, "npm", "install", "--global", "--prefix", join(folder, "prefix"), tarball);
  expect(firstAnswer(join(folder, "prefix"))).toContain("notes.txt:1");

  const project = join(folder, "project");
  mkdirSync(project);
  writeFileSync(join(project, "package.json"), JSON.stringify({ name: "p", private: true, type: "module" }));
  at(project, "npm", "install", tarball);
  writeFileSync(
    join(project, "main.js"),
    `import { createCrew } from "subcrew"; import { scripted } from "subcrew/testing";
     const crew = createCrew({ home: false, discover: false, models: { m: scripted("42") } });
     console.log((await crew.run({ mode: "single", agent: "general", task: "x", model: "m" })).output);`,
  );
  expect(at(project, process.execPath, "main.js")).toBe("42\n");
}, 2_400_000);
