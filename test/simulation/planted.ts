import { spawn } from "node:child_process";
import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

/** One defect: a text in a file of the program, and its replacement. */
export type Defect = Readonly<{ name: string; file: string; good: string; bad: string }>;

/** Defects that users would notice; the simulation must find them. */
export const defects: readonly Defect[] = [
  {
    name: "skip fsync",
    file: "runtime/store/journal.ts",
    good: "await file.datasync();",
    bad: "",
  },
  {
    name: "drop the check of the lock",
    file: "runtime/store/run-claim.ts",
    good: "if (next.some((file) => disk.existsSync(file))) throw busy(folder);",
    bad: "",
  },
  {
    name: "two terminal events",
    file: "runtime/features/drive.ts",
    good: 'if (end) emit("", { type: "run.ended", outcome: end });',
    bad: 'if (end) emit("", { type: "run.ended", outcome: end });\n    if (end) emit("", { type: "run.ended", outcome });',
  },
  {
    name: "lost cancel",
    file: "runtime/execute/execute.ts",
    good: "onAbort(signal, () => this.#cancel())",
    bad: "undefined",
  },
  {
    name: "retry of what cannot be retried",
    file: "runtime/execute/task-node.ts",
    good: 'outcome.status === "failed" && canRetry(outcome.fault)',
    bad: 'outcome.status === "failed"',
  },
  {
    name: "lost winner",
    file: "core/schedule/join.ts",
    good: "if (join.good >= count) return",
    bad: "if (join.good >= count && join.open === 0) return noneOf(partsOf(join, entries), count); if (join.good >= count) return",
  },
  {
    name: "leaked child",
    file: "runtime/loop/run-tool.ts",
    good: "const { controller, release } = following(signal);",
    bad: "const { controller, release } = following();",
  },
  {
    name: "off-by-one limit",
    file: "runtime/async/slots.ts",
    good: "if (this.#taken < this.#limit) {",
    bad: "if (this.#taken <= this.#limit) {",
  },
  {
    name: "stale cache of policy",
    file: "runtime/access/access.ts",
    good: "known.get(agent) ?? narrow(around, agent);",
    bad: "(parts.stale ??= new Map()).get(agent.name) ?? narrow(around, agent);\n    parts.stale.set(agent.name, policy);",
  },
  {
    name: "missing redaction",
    file: "runtime/features/redaction.ts",
    good: "emit(path, redactor.deep(fact));",
    bad: "emit(path, fact);",
  },
  {
    name: "a pause ends tasks",
    file: "runtime/features/pause.ts",
    good: "if (reason() === undefined || isKept(fact)",
    bad: "if (true || isKept(fact)",
  },
  {
    name: "a pause stops nothing",
    file: "runtime/execute/execute.ts",
    good: "this.#advance(cancelAll(this.#all, stop.stop), stop);",
    bad: "if (!stop.pause) this.#advance(cancelAll(this.#all, stop.stop), stop);",
  },
  {
    name: "a pause that is not recorded",
    file: "runtime/features/pause.ts",
    good: 'emit("", { type: "run.paused", reason: why });',
    bad: 'log.emit("", { type: "run.ended", outcome: { status: "cancelled", reason: why } });',
  },
  {
    name: "a task that was not resumed goes on",
    file: "runtime/execute/execute.ts",
    good: "!this.#wanted || dependsOn(this.#all, id, this.#wanted) || this.#hasWon(id)",
    bad: "true",
  },
  {
    name: "a second interruption forgets the turns before the first",
    file: "core/run/history.ts",
    good: "if (!before?.underWay || before.next !== attempt) underWay.set(path, []);",
    bad: "underWay.set(path, []);",
  },
  {
    name: "a resumed run has its whole budget again",
    file: "runtime/features/budget.ts",
    good: "createBudget(parameters.budget ?? {}, used)",
    bad: "createBudget(parameters.budget ?? {})",
  },
  {
    name: "one turn too many in a budget",
    file: "core/run/budget.ts",
    good: "counts[what] >= limit)",
    bad: "counts[what] > limit)",
  },
  {
    name: "tool calls of an earlier life are not counted",
    file: "core/run/budget-spent.ts",
    good: "toolCalls += 1;",
    bad: "",
  },
  {
    name: "a refused key fails tasks that could wait",
    file: "runtime/loop/park.ts",
    good: 'if (parks?.onProviderFault !== "park" || waitsFor === undefined) return "does not wait";',
    bad: 'if (parks?.onProviderFault !== "fail" || waitsFor === undefined) return "does not wait";',
  },
];

const root = join(import.meta.dirname, "..", "..");

/** Builds the simulation with a defect, or without one, into an empty folder; returns the program. */
export async function simulatorIn(folder: string, defect?: Defect): Promise<string> {
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const outfile = join(folder, "simulation.mjs");
  await build({
    entryPoints: [join(import.meta.dirname, "main.ts")],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    packages: "external",
    logLevel: "error",
    plugins: defect
      ? [
          {
            name: "defect",
            setup: ({ onLoad }) => {
              const path = join(root, "src", defect.file);
              onLoad({ filter: /\.ts$/ }, (file) =>
                file.path === path ? { contents: defectIn(defect), loader: "ts" } : undefined,
              );
            },
          },
        ]
      : [],
  });
  return outfile;
}

/** The file with its defect. Throws if the text to replace does not exist any more. */
export function defectIn({ name, file, good, bad }: Defect): string {
  const text = readFileSync(join(root, "src", file), "utf8");
  if (text.split(good).length !== 2) throw new Error(`"${name}" has no place in ${file} any more`);
  return text.replace(good, () => bad);
}

/** The result of playing seeds until one broke a rule. */
export type Played = Readonly<{ played: number; seed?: number; broken?: readonly string[] }>;

export function play(program: string, { first, count }: { first: number; count: number }): Promise<Played> {
  const child = spawn(process.execPath, [program, String(first), String(count)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let said = "";
  child.stdout.on("data", (chunk: Buffer) => {
    said += chunk.toString();
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => {
      if (said === "")
        reject(new Error(`the simulation of seeds ${first} to ${first + count - 1} crashed (${code ?? signal})`));
      else resolve(JSON.parse(said) as Played);
    });
  });
}
