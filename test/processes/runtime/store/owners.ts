import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { KeptEvent } from "../../../../src/core/run/event.ts";
import { openJournal } from "../../../../src/runtime/store/journal.ts";
import { readJournal } from "../../../../src/runtime/store/read-journal.ts";

const worker = join(import.meta.dirname, "owner-child.mjs");

/** Lets many processes claim the same runs at the same instant, one run after the other; one of them wins each. */
export async function contend(
  folder: string,
  rounds: number,
  contenders = 2,
): Promise<{ winners: number[]; busy: number }> {
  const children = Array.from({ length: contenders }, () =>
    spawn(process.execPath, [worker], { stdio: ["pipe", "pipe", "inherit"] }),
  );
  const lines = children.map((child) => readLines(child.stdout));
  const winners: number[] = [];
  let busy = 0;
  try {
    for (const next of lines) expect((await next.next()).value).toBe("ready");
    for (let round = 0; round < rounds; round += 1) {
      const run = join(folder, `round-${round}`);
      mkdirSync(run);
      const dead = await openJournal(run, { kept: () => {}, lost: () => {} });
      dead.append(fact(1));
      await dead.close();
      for (const child of children) child.stdin.write(`${run}\n`);
      const said = await Promise.all(lines.map(async (next) => (await next.next()).value as string));
      winners.push(said.filter((word) => word === "won").length);
      busy += said.filter((word) => word === "RUN_BUSY").length;
      for (const child of children) child.stdin.write("done\n");
      for (const next of lines) expect((await next.next()).value).toBe("released");
      const { events, problems } = await readJournal(run);
      expect([events.length, problems.length]).toEqual([3, 0]);
    }
  } finally {
    for (const child of children) child.stdin.end();
    await Promise.all(children.map((child) => new Promise((resolve) => child.once("exit", resolve))));
  }
  return { winners, busy };
}

export const fact = (seq: number): KeptEvent => ({ seq, run: "run_1", path: "", at: 1, type: "note", text: "x" });

async function* readLines(stream: NodeJS.ReadableStream): AsyncGenerator<string> {
  let rest = "";
  for await (const chunk of stream) {
    rest += String(chunk);
    for (let end = rest.indexOf("\n"); end >= 0; end = rest.indexOf("\n")) {
      yield rest.slice(0, end);
      rest = rest.slice(end + 1);
    }
  }
}
