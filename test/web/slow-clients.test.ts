import { mkdtempSync, writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { KeptEvent } from "../../src/core/run/event.ts";
import type { Journal } from "../../src/core/run/run-store.ts";
import { createCrew } from "../../src/crew.ts";
import type { RunningServer } from "../../src/runtime/network/loopback-server.ts";
import { createFolderStore } from "../../src/runtime/store/folder-store.ts";
import { openJournal } from "../../src/runtime/store/journal.ts";
import type { RunMessage } from "../../src/web/client/wire.ts";
import { openWeb } from "../../src/web/server.ts";
import { linkToken, newSecrets } from "../../src/web/sessions.ts";

const NODES = 600;
const ASKING = 100;
/** Long questions: the data for a tab that does not read exceeds the system's buffer of a connection. */
const ROUNDS = 5;
const QUESTION = "x".repeat(20_000);
const run = "run_slow00000000";
const home = mkdtempSync(join(tmpdir(), "subcrew-slow-"));
const secrets = newSecrets();
const nodeId = (at: number): string => `part-${String(at).padStart(4, "0")}`;
let server: RunningServer;
let journal: Journal;
let cookie: string;
let seq = 0;

const emit = (path: string, fact: object): void => {
  seq += 1;
  journal.append({ seq, run, at: 1_000 + seq, path, ...fact } as unknown as KeptEvent);
};

beforeAll(async () => {
  for (const file of ["index.html", "app.js", "app.css", "icon.svg"]) writeFileSync(join(home, file), file);
  const state = join(home, "state");
  journal = await openJournal(createFolderStore(state).place(run), {
    kept: () => {},
    lost: (error) => {
      throw error;
    },
  });
  const task = { agent: "explore", prompt: "Look into this part of the sources and say what could be simpler." };
  const nodes = Object.fromEntries(
    Array.from({ length: NODES }, (_, at) => [nodeId(at), { kind: "task", needs: [], task }]),
  );
  emit("", { type: "run.started", plan: { nodes, output: nodeId(0) }, cwd: home, version: "0" });
  for (let at = 0; at < ASKING; at += 1) emit(nodeId(at), { type: "node.started", kind: "task", attempt: 1, ...task });
  await journal.durable();
  const crew = createCrew({ cwd: home, home: state, userHome: home, env: {} });
  server = await openWeb(crew, {
    secrets,
    port: 0,
    assets: home,
    user: undefined,
    crewAt: async () => crew,
    ownCommand: async () => "",
    onError: (error) => {
      throw error;
    },
  });
  const entered = await fetch(
    `http://127.0.0.1:${server.port}/${secrets.prefix}/enter?token=${linkToken(secrets, "full")}`,
  );
  cookie = String(entered.headers.get("set-cookie")).split(";")[0]!;
});
afterAll(async () => {
  await server.close();
  await journal.close();
});

/** A tab as the page has it: the received events, folded. */
type OpenTab = {
  readonly tasks: Map<string, RunMessage["tasks"][number]>;
  readonly seen: number[];
  snapshots: number;
  readonly socket: Socket;
};

function openTab(): OpenTab {
  const socket = connect(server.port, "127.0.0.1");
  const tab: OpenTab = { tasks: new Map(), seen: [], snapshots: 0, socket };
  socket.write(
    `GET /${secrets.prefix}/events?run=${run} HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nCookie: ${cookie}\r\n\r\n`,
  );
  let text = "";
  socket.setEncoding("latin1");
  socket.on("data", (chunk: string) => {
    text += chunk;
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const lines = text.slice(0, end).split("\n");
      text = text.slice(end + 2);
      const field = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
      if (field("event") === "run") take(tab, JSON.parse(field("data")!) as RunMessage);
    }
  });
  return tab;
}

function take(tab: OpenTab, message: RunMessage): void {
  for (const row of message.tasks) tab.tasks.set(row.path, row);
  if (message.full) tab.snapshots += 1;
  if (!message.continues) tab.seen.length = 0;
  tab.seen.push(...message.log.map((line) => line.seq));
}

const upTo = (last: number): number[] => Array.from({ length: last }, (_, at) => at + 1);

test("a tab that stops reading during a run of 600 tasks gets every event once when it reads again", async () => {
  const slow = openTab();
  await expect.poll(() => slow.tasks.size).toBe(NODES);
  slow.socket.pause();
  const quick = openTab();
  for (let round = 0; round < ROUNDS; round += 1) {
    for (let at = 0; at < ASKING; at += 1) emit(nodeId(at), { type: "gate.opened", question: `${round}${QUESTION}` });
    await journal.durable();
    await expect.poll(() => quick.seen.at(-1)).toBe(seq);
  }
  // The tab reads one piece at a time, so that the buffers of the connection stay full while the server continues.
  slow.socket.on("data", () => {
    slow.socket.pause();
    setImmediate(() => slow.socket.resume());
  });
  slow.socket.resume();
  await expect.poll(() => slow.seen.at(-1), { timeout: 20_000 }).toBe(seq);
  expect(slow.seen).toEqual(upTo(seq));
  expect([...slow.tasks]).toEqual([...quick.tasks]);
  const sent = slow.snapshots;
  emit(nodeId(1), { type: "message.received", from: "the user", text: "One more." });
  await expect.poll(() => slow.seen.at(-1)).toBe(seq);
  expect(slow.snapshots).toBe(sent); // the snapshot of a large run is not sent repeatedly
  slow.socket.destroy();
  quick.socket.destroy();
});
