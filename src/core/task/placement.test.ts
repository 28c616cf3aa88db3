import { describe, expect, test } from "vitest";
import type { JobNeeds } from "./job.ts";
import { type Announcement, choosePlace, type WorkerClass } from "./placement.ts";

const worker: Announcement = {
  protocols: [1],
  platform: "linux",
  runners: ["local", "codex"],
  providers: ["anthropic"],
  models: [],
  hasDefaultModel: true,
  tools: ["deploy"],
  servers: ["tickets"],
  workspaces: ["/w"],
  repositories: [],
  sandbox: "none",
  slots: 2,
};
const classes = (...all: readonly Partial<WorkerClass>[]): WorkerClass[] =>
  all.map((one, at) => ({ class: `c${at}`, announcement: worker, workers: 1, load: 0, ...one }));
const wish = (needs: Partial<JobNeeds> = {}, id = "/w", protocol = 1) => ({
  needs: { runner: "local" as const, tools: [], ...needs },
  workspace: { id },
  protocol,
});

describe("choosePlace", () => {
  test("chooses the class with the most free slots among those that fit", () => {
    expect(choosePlace(wish(), classes({ load: 2 }, { load: 3, workers: 4 }))).toMatchObject({ class: "c1" });
  });

  test.each([
    [wish({ runner: "gemini" }), 'no worker has the runner "gemini"'],
    [wish({ models: ["openai/gpt"] }), 'no worker has a key for the model "openai/gpt"'],
    [wish({ tools: ["launch"] }), 'no worker has the tool "launch"'],
    [wish({ servers: ["mail"] }), 'no worker has the MCP server "mail"'],
    [wish({ sandbox: true }), "no worker has a sandbox for commands"],
    [wish({}, "/other"), "no worker has the workspace /other"],
    [wish({}, "/w", 2), "no worker has protocol 2 (the worker supports 1)"],
  ])("reports what no worker has (case %#)", (asked, why) => {
    expect(choosePlace(asked, classes({}))).toEqual({ why });
  });

  test("built-in models exist on every worker; one matching model name of several is enough; a name without a provider matches any provider", () => {
    for (const models of [["scripted:x.json"], ["offline"], ["openai/gpt", "anthropic/claude"], ["claude"]])
      expect(choosePlace(wish({ models }), classes({}))).toMatchObject({ class: "c0" });
  });

  test("a worker without a provider runs a task that names no model only if the offline model may answer", () => {
    const bare = classes({ announcement: { ...worker, providers: [], hasDefaultModel: false } });
    expect(choosePlace(wish(), bare)).toEqual({ why: "no worker has a key of any model provider" });
    expect(choosePlace(wish({ offline: true }), bare)).toMatchObject({ class: "c0" });
    expect(choosePlace(wish({ offline: true }), [...bare, ...classes({ class: "keyed", load: 9 })])).toMatchObject({
      class: "keyed",
    });
  });

  test("reports that no worker is connected", () => {
    expect(choosePlace(wish(), [])).toEqual({ why: "no worker is connected" });
  });
});
