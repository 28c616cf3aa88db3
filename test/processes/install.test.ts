import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { place } from "./command.ts";

const root = join(import.meta.dirname, "../..");

describe("from the packed tarball, with a new home folder and nothing else installed", () => {
  const { workspace: work, home } = place();
  const folder = dirname(work);
  let packed: readonly string[] = [];
  const subcrew = (...args: readonly string[]): string =>
    execFileSync(process.execPath, [join(folder, "package/dist/cli/main.js"), ...args], {
      cwd: work,
      encoding: "utf8",
      env: { PATH: process.env["PATH"], HOME: home },
      stdio: ["ignore", "pipe", "pipe"],
    });
  beforeAll(() => {
    // The build exists already: a normal `npm pack` would build it again.
    const told = execFileSync("npm", ["pack", "--ignore-scripts", "--json", "--pack-destination", folder], {
      cwd: root,
      encoding: "utf8",
    });
    const [{ filename, files }] = JSON.parse(told) as [{ filename: string; files: { path: string }[] }];
    packed = files.map(({ path }) => path);
    execFileSync("tar", ["-xzf", join(folder, filename), "-C", folder]);
  }, 300_000);

  test("the tarball contains the command, the doors and their types, no tests, and no files of bundled agents", () => {
    const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
      exports: Record<string, string | { types: string; default: string }>;
    };
    const doors = Object.values(exports).flatMap((door) => (typeof door === "string" ? [door] : Object.values(door)));
    const named = doors.filter((file) => !file.includes("*")).map((file) => file.replace("./", ""));
    expect(packed).toEqual(expect.arrayContaining(["dist/cli/main.js", "dist/schemas/event.json", ...named]));
    expect(packed.filter((file) => /\.test\.|^(?:src|test|bench|agents|prompts|skills|commands)\//.test(file))).toEqual(
      [],
    );
  });

  test("the package contains the web page", () => {
    const page = ["index.html", "app.js", "app.css", "icon.svg"].map((name) => `dist/cli/web/${name}`);
    expect(packed).toEqual(expect.arrayContaining(page));
    expect(packed.filter((path) => path.startsWith("dist/web/"))).toEqual([]);
  });

  test("the command uses the compiled code in the package, and works without it or if it is damaged", () => {
    const watching = `data:text/javascript,${encodeURIComponent(`
      import { writeSync } from "node:fs";
      const scripts = (globalThis[Symbol.for("subcrew.scripts")] = []);
      process.once("exit", () => writeSync(1, String(scripts[0].script.cachedDataRejected)));
    `)}`;
    const told = (): string => {
      const main = join(folder, "package/dist/cli/main.js");
      const env = { PATH: process.env["PATH"], HOME: home };
      return execFileSync(process.execPath, ["--import", watching, main, "agents", "--json"], {
        cwd: work,
        encoding: "utf8",
        env,
      });
    };
    const cache = join(folder, "package", packed.find((file) => /^dist\/cli\/trunk-.*\.cache$/.test(file)) ?? "");
    const code = readFileSync(cache);
    expect(told()).toMatch(/"explore"[^]*\]\nfalse$/);
    const damaged = Buffer.from(code);
    for (let at = 5_000; at < damaged.length; at += 50_000) damaged[at] = 255 - damaged[at]!;
    for (const bytes of [damaged, code.subarray(0, 3), Buffer.alloc(0)]) {
      writeFileSync(cache, bytes);
      expect(told()).toMatch(/"explore"[^]*\]\nundefined$/);
    }
    rmSync(cache);
    expect(told()).toMatch(/"explore"[^]*\]\nundefined$/);
    writeFileSync(cache, code);
  });

  test("a newcomer gets a first answer, a first agent and a first team without a key", () => {
    writeFileSync(join(work, "notes.txt"), "The plants were watered on Monday.\n");
    expect(subcrew("run", "explore", "When were the plants watered?")).toContain("notes.txt:1");

    expect(subcrew("agents", "new", "gardener")).toContain(".agents/agents/gardener.md");
    expect(subcrew("run", "gardener", "When were the plants watered?")).toContain("notes.txt:1");

    const team = {
      team: {
        tasks: [
          { id: "find", task: "plants" },
          { id: "sum", task: "watered", depends: ["find"] },
        ],
      },
    };
    writeFileSync(join(work, "team.json"), JSON.stringify(team));
    expect(subcrew("team", "--input", "team.json")).toContain("notes.txt:1");
    expect(subcrew("runs")).toMatch(/(?:run_\w+ {2}ok .*\n){3}/);
  }, 120_000);
});

test("the command lines that quickstart suggests work as printed", async () => {
  const printed = readFileSync(join(root, "scripts/quickstart.mjs"), "utf8").match(/^ {2}npx subcrew .*$/gm) ?? [];
  expect(printed.length).toBeGreaterThan(3);
  const there = place();
  for (const line of printed) {
    const words = Array.from(line.trim().matchAll(/(?:[^\s"]|"[^"]*")+/g), ([word]) => word.replaceAll('"', "")).slice(
      2,
    );
    expect(await there.run(words, { cwd: root, shared: true }), line).toMatchObject({ code: 0 });
  }
  // `npx subcrew` in the clone of the repository runs the command that the package declares.
  const { bin } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { bin: { subcrew: string } };
  expect(readFileSync(join(root, bin.subcrew), "utf8")).toMatch(/^#!\/usr\/bin\/env node\n/);
  expect(dirname(bin.subcrew)).toBe("dist/cli");
}, 120_000);
