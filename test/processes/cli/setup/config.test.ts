import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { place } from "../../command.ts";

/** A place whose user settings are this text. */
async function withSettings(text: string): Promise<ReturnType<typeof place> & { file: string }> {
  const here = place();
  const file = join(here.env["SUBCREW_HOME"] ?? "", "config.yaml");
  await here.run(["config", "set", "concurrency", "1"]);
  writeFileSync(file, text);
  return { ...here, file };
}

describe("config", () => {
  test("set writes one value and keeps comments, and get and list show the value with its line", async () => {
    const { run, file } = await withSettings("# my settings\nconcurrency: 2 # few\n");
    expect(await run(["config", "set", "concurrency", "4"])).toMatchObject({ code: 0 });
    expect(await run(["config", "set", "agents.explore.model", "fast"])).toMatchObject({ code: 0 });
    expect(readFileSync(file, "utf8")).toBe(
      "# my settings\nconcurrency: 4 # few\nagents:\n  explore:\n    model: fast\n",
    );
    expect((await run(["config", "get", "concurrency"])).stdout).toBe("4\n");
    expect(JSON.parse((await run(["config", "list", "--json"])).stdout)).toContainEqual({
      key: "agents.explore.model",
      value: "fast",
      from: `${file}:5`,
    });
  });

  test("commas separate list items where a list is allowed, and stay text elsewhere", async () => {
    const { run, file } = await withSettings("");
    await run(["config", "set", "model", "fast, offline"]);
    await run(["config", "set", "diagnostics.command", "npm run a, b"]);
    expect(readFileSync(file, "utf8")).toBe("model:\n  - fast\n  - offline\ndiagnostics:\n  command: npm run a, b\n");
  });

  test("names of folders and values reach the terminal without control characters", async () => {
    const { run, workspace } = place();
    const folder = join(workspace, "a\u001b]0;b\u0007\u009b\u202e\rc");
    mkdirSync(folder);
    const set = ["config", "set", "--project", "model", "x\u001b[2J\u009by\rz"];
    const shown = [await run(set, { cwd: folder }), await run(["config", "path"], { cwd: folder })];
    expect(shown.map(({ code }) => code)).toEqual([0, 0]);
    for (const { stdout } of shown) expect(stdout).toMatch(/^[^\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]+$/);
  });

  test("unset removes a value, and the parents that become empty", async () => {
    const { run, file } = await withSettings("model: fast\nlimits:\n  maxTurns: 3\n");
    expect(await run(["config", "unset", "limits.maxTurns"])).toMatchObject({ code: 0 });
    expect(readFileSync(file, "utf8")).toBe("model: fast\n");
  });

  test.each([
    [["set", "concurency", "4"], 'Unknown setting "concurency"', 'Did you mean "concurrency"'],
    [["set", "concurrency", "many"], "has to be a number", "how many tasks run at once"],
    [["set", "model.name", "x"], '"model" of the settings', ""],
    [["get", "agents.x.modle"], 'Unknown setting "agents.x.modle"', 'Did you mean "agents.x.model"'],
    [["list", "extra"], "Too many arguments", "--help"],
    [["lst"], 'Unknown command "lst"', "subcrew config list"],
  ])("a mistake in %j changes nothing and gets an error with a fix", async (words, message, hint) => {
    const { run, file } = await withSettings("concurrency: 2\n");
    const { code, stderr } = await run(["config", ...words]);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
    expect(stderr).toContain(hint);
    expect(readFileSync(file, "utf8")).toBe("concurrency: 2\n");
  });

  test("an invalid settings file is reported with its line, and set does not change it", async () => {
    const { run, file } = await withSettings("concurrency: 2\nmodle: x\n");
    const { code, stderr } = await run(["config", "set", "concurrency", "4"]);
    expect(code).toBe(2);
    expect(stderr).toContain(`${file}:2`);
    expect(readFileSync(file, "utf8")).toBe("concurrency: 2\nmodle: x\n");
  });

  test("list never prints a key", async () => {
    const { run } = await withSettings(
      "providers:\n  mine:\n    baseURL: http://127.0.0.1:9\n    apiKey: sk-secret-1\n",
    );
    const { stdout, code } = await run(["config", "list"]);
    expect(code).toBe(0);
    expect(stdout).toContain("providers.mine.apiKey");
    expect(stdout).not.toContain("sk-secret-1");
  });

  test("get masks keys and headers in every format, unless exactly one value is named", async () => {
    const { run } = await withSettings(
      "providers:\n  mine:\n    baseURL: http://127.0.0.1:9\n    apiKey: sk-secret-1\n    headers: { Authorization: sk-secret-2 }\n",
    );
    for (const words of [["get", "providers"], ["get", "providers.mine"], ["get", "providers.mine.headers"], ["list"]])
      for (const format of [[], ["--json"]]) {
        const { stdout, stderr, code } = await run(["config", ...words, ...format]);
        expect(code).toBe(0);
        expect(stdout).toContain("(hidden)");
        expect(stdout + stderr).not.toContain("sk-secret");
      }
    expect((await run(["config", "get", "providers.mine.apiKey"])).stdout).toBe("sk-secret-1\n");
    expect((await run(["config", "get", "providers.mine.headers.Authorization", "--json"])).stdout).toBe(
      '"sk-secret-2"\n',
    );
  });

  test("edit saves the text of the editor, and an invalid draft does not replace the file", async () => {
    const { run, file } = await withSettings("concurrency: 2\n");
    const good = await run(["config", "edit"], { env: { EDITOR: "printf 'concurrency: 5\\n' >" } });
    expect(good).toMatchObject({ code: 0, stdout: `Saved ${file}\n` });
    expect(readFileSync(file, "utf8")).toBe("concurrency: 5\n");
    const bad = await run(["config", "edit"], { env: { EDITOR: "printf 'concurrency: lots\\n' >" } });
    expect(bad.code).toBe(2);
    expect(bad.stderr).toContain("was not changed");
    const draft = /kept in (\S+)\./.exec(bad.stderr)?.[1] ?? "";
    expect(readFileSync(draft, "utf8")).toBe("concurrency: lots\n");
    expect(readFileSync(file, "utf8")).toBe("concurrency: 5\n");
  });

  test("an environment variable that overrides a new value is named", async () => {
    const { run } = await withSettings("");
    const { stderr } = await run(["config", "set", "concurrency", "4"], { env: { SUBCREW_CONCURRENCY: "2" } });
    expect(stderr).toContain("SUBCREW_CONCURRENCY");
  });
});
