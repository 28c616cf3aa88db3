import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { spellingsOf } from "../../../src/core/secrets/spellings.ts";
import { type CrewOptions, createCrew, defineAgent, defineTool, type Event, type Model } from "../../../src/index.ts";
import { type Script, scripted } from "../../../src/models/scripted/scripted.ts";
import { repository } from "../../support/repository.ts";
import { tempFolder } from "../../support/temp-folder.ts";

// The cases of the area "secrets-env" about output and records. The variables of child processes (SEC-01, SEC-02) are
// tested with commands, the files and settings of a project (SEC-06, SEC-07) with discovery and the choice of models, and
// redirects of a provider (SEC-08) with providers.

const CANARY = "c4nary-VALUE-0123456789";
const env = { PATH: "/usr/bin", HOME: "/nowhere", ANTHROPIC_API_KEY: CANARY, GITHUB_TOKEN: `${CANARY}-two` };

/** Every form in which the secret could appear in a text. */
const leaks = (text: string): string[] => spellingsOf(CANARY).filter((form) => text.includes(form));

/**
 * Runs one task and returns everything of it that anybody could see: events, result, files of the run, the model's
 * requests.
 */
async function everything(
  turns: readonly Script[] | Model,
  { options = {}, input = {} }: { options?: CrewOptions; input?: object } = {},
) {
  const home = tempFolder();
  const model = typeof turns === "function" ? turns : scripted(...turns);
  const worker = defineAgent({ name: "worker", description: "works", instructions: "Work." });
  const crew = createCrew({
    cwd: tempFolder(),
    home,
    env,
    discover: false,
    agents: [worker],
    models: { m: model },
    model: "m",
    ...options,
  });
  const run = crew.run({ mode: "single", agent: "worker", task: "Do it.", ...input });
  const events: Event[] = [];
  for await (const event of run) events.push(event);
  const result = await run;
  const files = readdirSync(home, { recursive: true, encoding: "utf8" }).map((name) => join(home, name));
  const kept = files.filter((file) => statSync(file).isFile()).map((file) => readFileSync(file, "utf8"));
  const requests = "requests" in model ? JSON.stringify(model.requests) : "";
  return {
    result,
    events,
    seen: [JSON.stringify(events), JSON.stringify(result), ...kept],
    requests,
    journal: kept.join("\n"),
  };
}

describe("SEC-03: a key is shown nowhere", () => {
  test("not in text of the model, in any spelling", async () => {
    const spelled = [
      CANARY,
      Buffer.from(`x:${CANARY}`).toString("base64"),
      encodeURIComponent(CANARY),
      Buffer.from(CANARY).toString("hex"),
    ];
    const { seen, result } = await everything([{ thinking: CANARY, text: `It is ${spelled.join(" or ")}.` }]);
    expect(seen.flatMap(leaks)).toEqual([]);
    expect(result).toMatchObject({ status: "ok", output: expect.stringContaining("It is [redacted] or") });
  });

  test("not in streamed text, in any pieces", async () => {
    const slow: Model = async function* () {
      for (const piece of ["The key is ", CANARY.slice(0, 5), CANARY.slice(5, 9), CANARY.slice(9), "!"])
        yield { type: "text", text: piece };
      yield { type: "end", usage: { input: 1, output: 1 } };
    };
    const { events, seen } = await everything(slow);
    expect(events.flatMap((event) => (event.type === "text.delta" ? [event.text] : [])).join("")).toEqual(
      "The key is [redacted]!",
    );
    expect(seen.flatMap(leaks)).toEqual([]);
  });

  test("not in the arguments and results of a tool, and the model does not read it", async () => {
    const leaky = defineTool({
      name: "leaky",
      description: "leaks",
      input: z.object({ with: z.string() }),
      effect: "read",
      run: () => `value: ${CANARY}`,
    });
    const thrower = defineTool({
      name: "thrower",
      description: "throws",
      input: z.object({}),
      effect: "read",
      run: () => Promise.reject(new Error(`cannot use ${CANARY}`)),
    });
    const calls = [
      { name: "leaky", input: { with: CANARY } },
      { name: "thrower", input: {} },
    ];
    const { seen, requests } = await everything([{ calls }, "done"], { options: { tools: [leaky, thrower] } });
    expect(seen.flatMap(leaks)).toEqual([]);
    expect(requests).toContain("value: [redacted]");
    expect(requests).toContain("cannot use [redacted]");
    expect(requests.split(`"role":"tool"`).slice(1).flatMap(leaks)).toEqual([]);
  });

  test("not in a file that the task reads", async () => {
    const cwd = tempFolder({ ".env": `ANTHROPIC_API_KEY=${CANARY}\nOTHER=1\n` });
    const { seen, requests } = await everything([{ calls: [{ name: "read_file", input: { path: ".env" } }] }, "done"], {
      options: { cwd },
    });
    expect(requests).toContain("ANTHROPIC_API_KEY=[redacted]");
    expect([...seen, requests].flatMap(leaks)).toEqual([]);
  });

  test("not in the file with the long output of a command", async () => {
    const cwd = tempFolder({ "long.txt": `${"x".repeat(99)}\n`.repeat(4_000) });
    writeFileSync(join(cwd, ".key"), CANARY);
    const command = "cat long.txt .key long.txt; echo; cat .key";
    const { seen, events } = await everything([{ calls: [{ name: "bash", input: { command } }] }, "done"], {
      options: { cwd, permissions: { mode: "bypass", sandbox: "off" } },
    });
    expect(JSON.stringify(events)).toMatch(/the full output is in [^"]*commands/);
    expect(seen.some((text) => text.length > 800_000 && text.includes("[redacted]"))).toBe(true);
    expect(seen.flatMap(leaks)).toEqual([]);
  });

  test("not in a prompt, a name or a plan", async () => {
    const { seen } = await everything(["done"], { input: { task: `Use ${CANARY} to log in.` } });
    expect(seen.flatMap(leaks)).toEqual([]);
  });

  test("not when the model or the task fails", async () => {
    const broken = await everything(() => {
      throw new Error(`bad key ${CANARY}`);
    });
    expect(broken.seen.flatMap(leaks)).toEqual([]);
    expect(broken.result).toMatchObject({
      status: "failed",
      fault: { message: expect.stringContaining("[redacted]") },
    });
  });

  test("not from the settings of a provider, nor from a value that the user declares as a secret", async () => {
    const options: CrewOptions = {
      env: {},
      providers: { mine: { baseURL: "http://127.0.0.1:9/v1", apiKey: CANARY } },
      secrets: ["another-SECRET-1"],
    };
    const { seen } = await everything([`${CANARY} and another-SECRET-1`], { options });
    expect(seen.join("")).not.toMatch(/c4nary|another-SECRET/);
  });
});

test("SEC-04: an error that echoes the header of the request is masked", async () => {
  const fault = {
    code: "MODEL_AUTH",
    message: 'rejected: {"Authorization": "Bearer unknown-to-us-1234567890"}',
    hint: `check ${CANARY}`,
    retryable: false,
  } as const;
  const { seen, result } = await everything([{ error: fault }]);
  expect(result).toMatchObject({
    status: "failed",
    fault: { message: 'rejected: {"Authorization": "Bearer [redacted]"}', hint: "check [redacted]" },
  });
  expect(seen.join("")).not.toMatch(/unknown-to-us|c4nary/);
});

test("SEC-05: get_env shows variables that are passed on, and those that the user adds", async () => {
  const asked = ["ANTHROPIC_API_KEY", "anthropic_api_key", "PATH", "EXTRA"].map((name) => ({
    name: "get_env",
    input: { name },
  }));
  const { requests, seen } = await everything([{ calls: [...asked, { name: "get_env", input: {} }] }, "done"], {
    options: { env: { ...env, EXTRA: "yes" }, passEnv: ["EXTRA"] },
  });
  expect(requests).toContain("The variable ANTHROPIC_API_KEY is not available here.");
  expect(requests).toContain("The variable anthropic_api_key is not available here.");
  expect(requests).toContain(String.raw`EXTRA=yes\nHOME=/nowhere\nPATH=/usr/bin`);
  expect([requests, ...seen].flatMap(leaks)).toEqual([]);
});

test("SEC-09: the password of a remote and a token in a commit message are masked in the context", async () => {
  const cwd = repository(
    "echo a > a && git add a && git commit -qm 'use ghp_abcdefghijklmnopqrstuvwxyz0123456789'",
    `git remote add origin https://user:${CANARY}@host.example/x.git`,
  );
  writeFileSync(join(cwd, "b"), "b");
  const { requests, seen } = await everything(["done"], {
    options: { cwd, env: {} },
    input: { gitContext: { branch: true, log: 5 } },
  });
  expect([requests, ...seen].flatMap(leaks)).toEqual([]);
  expect([requests, ...seen].join("")).not.toContain("ghp_abc");
});
