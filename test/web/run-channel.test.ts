import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { KeptEvent } from "../../src/core/run/event.ts";
import type { Model } from "../../src/core/model/model.ts";
import { createCrew } from "../../src/crew.ts";
import type { Crew } from "../../src/crew/crew-type.ts";
import { never, scripted } from "../../src/models/scripted/scripted.ts";
import { deferred } from "../../src/runtime/async/deferred.ts";
import type { RunningServer } from "../../src/runtime/network/loopback-server.ts";
import { createFolderStore } from "../../src/runtime/store/folder-store.ts";
import { openJournal } from "../../src/runtime/store/journal.ts";
import type { RunMessage, WebProblem } from "../../src/web/client/wire.ts";
import { openWeb } from "../../src/web/server.ts";
import { linkToken, newSecrets } from "../../src/web/sessions.ts";
import { tempFolder } from "../support/temp-folder.ts";

const crewOf = (home: string, model: Model = never): Crew =>
  createCrew({
    cwd: home,
    home: join(home, "state"),
    userHome: home,
    discover: false,
    env: {},
    model: "m",
    models: { m: model },
    agents: [{ name: "scout", description: "Asks.", instructions: "Ask.", tools: ["ask"] }],
  });
const single = { agent: "general", task: "one" } as const;

let server: RunningServer | undefined;
const over = new AbortController();
const fail = (error: unknown): never => {
  throw error;
};
afterEach(() => server?.close());

/**
 * The page of one run as a browser tab shows it: its status, the status and question of its task, and why it is gone.
 */
type Page = { life: string; tasks: Map<string, string>; asked: string | undefined; gone: WebProblem | undefined };
const shownOn = ({ life, tasks }: Page): string => [life, ...tasks.values()].join(": ");

async function openPage(home: string, run: string): Promise<Page> {
  const assets = join(home, "assets");
  mkdirSync(assets, { recursive: true });
  for (const file of ["index.html", "app.js", "app.css", "icon.svg"]) writeFileSync(join(assets, file), file);
  const secrets = newSecrets();
  const crew = crewOf(home);
  server = await openWeb(crew, {
    secrets,
    port: 0,
    assets,
    user: undefined,
    crewAt: async () => crew,
    ownCommand: async () => "",
    onError: fail,
  });
  const base = `http://127.0.0.1:${server.port}/${secrets.prefix}`;
  const entered = await fetch(`${base}/enter?token=${linkToken(secrets, "full")}`, { redirect: "manual" });
  const cookie = String(entered.headers.get("set-cookie")).split(";")[0]!;
  const stream = await fetch(`${base}/events?run=${run}`, { headers: { cookie }, signal: over.signal });
  const page: Page = { life: "", tasks: new Map(), asked: undefined, gone: undefined };
  void listen(stream, page).catch(() => undefined); // the stream ends when the test closes the server
  await expect.poll(() => page.life, { timeout: 60_000 }).not.toBe("");
  return page;
}

async function listen(stream: Response, page: Page): Promise<void> {
  let text = "";
  for await (const chunk of stream.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const lines = text.slice(0, end).split("\n");
      text = text.slice(end + 2);
      const field = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
      if (field("event") === "gone") page.gone = JSON.parse(field("data")!) as WebProblem;
      if (field("event") !== "run") continue;
      const { head, tasks } = JSON.parse(field("data")!) as RunMessage;
      page.life = head.life;
      for (const { path, status, question } of tasks) {
        page.tasks.set(path, status);
        page.asked = question;
      }
    }
  }
}

/** A run that was paused in its first turn. */
async function pausedRun(home: string): Promise<string> {
  const run = crewOf(home).run(single);
  for await (const event of run) if (event.type === "turn.started") run.pause();
  await run;
  return run.id;
}
const shows = (page: Page, what: string) => expect.poll(() => shownOn(page), { timeout: 60_000 }).toBe(what);

test("a paused run that another process resumes is shown as running, then with its result", async () => {
  const home = tempFolder();
  const id = await pausedRun(home);
  const page = await openPage(home, id);
  await shows(page, "paused: running");
  const goOn = deferred<void>();
  const again = crewOf(
    home,
    scripted(() => goOn.promise.then(() => "done")),
  ).resume(id);
  await shows(page, "running: running");
  goOn.resolve();
  await again;
  await shows(page, "ok: ok");
});

test("a task of a paused run that another process cancels is shown as cancelled", async () => {
  const home = tempFolder();
  const id = await pausedRun(home);
  const page = await openPage(home, id);
  await shows(page, "paused: running");
  await crewOf(home).kept.cancelTask(id, "general", "not needed");
  await shows(page, "paused: cancelled");
});

test("a question of a paused run is not shown on its page once an answer to it is stored", async () => {
  const home = tempFolder();
  const run = crewOf(home).run({ nodes: { ok: { kind: "gate", question: "Fine?" } }, output: "ok" });
  for await (const event of run) if (event.type === "gate.opened") run.pause();
  await run;
  const page = await openPage(home, run.id);
  await expect.poll(() => page.asked, { timeout: 60_000 }).toBe("Fine?");
  const command = { do: "answer", path: "ok", question: "Fine?", answer: { approve: true } } as const;
  await crewOf(home).kept.tell(run.id, command, { waitMs: 1, signal: over.signal });
  await expect.poll(() => page.asked, { timeout: 60_000 }).toBe(undefined);
  expect(page.life).toBe("paused");
});

test("an interrupted run that a process takes over is shown as running before its first event", async () => {
  const home = tempFolder();
  const run = "run_taken0000000";
  const store = createFolderStore(join(home, "state"));
  const open = () => openJournal(store.place(run), { kept: () => {}, lost: fail });
  const first = await open();
  const plan = { nodes: { one: { kind: "task", task: { agent: "general", prompt: "x" } } }, output: "one" };
  const facts = [
    { path: "", type: "run.started", plan, cwd: home, version: "0" },
    { path: "one", type: "node.started", kind: "task", attempt: 1, agent: "general" },
  ];
  for (const [at, fact] of facts.entries())
    first.append({ seq: at + 1, run, at: 1_000 + at, ...fact } as unknown as KeptEvent);
  await first.durable();
  await first.close();
  const page = await openPage(home, run);
  await shows(page, "interrupted: running");
  const second = await open();
  await shows(page, "running: running");
  await second.close();
  await shows(page, "interrupted: running");
});

test("a run that another process deletes is reported as gone", async () => {
  const home = tempFolder();
  const id = await pausedRun(home);
  const page = await openPage(home, id);
  await shows(page, "paused: running");
  await crewOf(home).kept.remove(id);
  await expect.poll(() => page.gone, { timeout: 60_000 }).toMatchObject({ code: "UNKNOWN_RUN" });
});

test("a question that another process answers is no longer shown", async () => {
  const home = tempFolder();
  const asks = scripted({ calls: [{ name: "ask", input: { question: "Which port?" } }] }, "Port 80.");
  const run = crewOf(home, asks).run({ agent: "scout", task: "x" }, { asksCalls: true });
  for await (const event of run) if (event.type === "gate.opened") break;
  const page = await openPage(home, run.id);
  await expect.poll(() => page.asked, { timeout: 60_000 }).toContain("Which port?");
  const { kept } = crewOf(home);
  const [question] = await kept.questions();
  const answer = { approve: true, text: "80", by: "a colleague" };
  const command = { do: "answer", path: question!.path, answer } as const;
  await kept.tell(run.id, command, { waitMs: 60_000, signal: new AbortController().signal });
  await shows(page, "ok: ok");
  expect(page.asked).toBeUndefined();
});
