import { expect, test } from "vitest";
import { brokenRules } from "./rules.ts";
import { type Story, simulate } from "./simulate.ts";

/**
 * The seeds for every change. They are always the same; `SUBCREW_SEED=12` plays only that seed, and the soak plays ten
 * thousand other seeds.
 */
const given = process.env["SUBCREW_SEED"];
const seeds = given === undefined ? Array.from({ length: 180 }, (_, at) => at + 1) : [Number(given)];
const TWICE = 30;

/** The command that plays a seed again, and the events of it. */
function report({ seed, faults, lives, journal }: Story, broken: readonly string[]): string {
  const last = journal.slice(-8).map(({ seq, path, type }) => `  ${seq} ${type} ${path}`);
  return [
    `seed ${seed}: SUBCREW_SEED=${seed} npm test -- test/simulation/seeds.test.ts`,
    ...broken.slice(0, 10),
    `faults ${JSON.stringify(faults)}`,
    ...lives.map(({ number, end, why }) => `process ${number} ${end}${why === undefined ? "" : `: ${why}`}`),
    ...last,
  ].join("\n");
}

test("SIM-01, SIM-02: a seed gives the same run byte for byte, and our promises hold whatever goes wrong in it", async () => {
  const wrong: string[] = [];
  const hashes = new Map<number, string>();
  const met = new Set<string>();
  for (const seed of seeds) {
    const story = await simulate(seed);
    const broken = brokenRules(story);
    if (broken.length > 0) wrong.push(report(story, broken));
    hashes.set(seed, story.hash);
    for (const one of metIn(story)) met.add(one);
  }
  expect(wrong.join("\n\n")).toBe("");
  const differing: number[] = [];
  for (const seed of seeds.slice(0, TWICE)) if ((await simulate(seed)).hash !== hashes.get(seed)) differing.push(seed);
  expect(differing).toEqual([]);
  expect(new Set(hashes.values()).size).toBe(hashes.size);
  if (given === undefined) expect(everything.filter((one) => !met.has(one))).toEqual([]);
});

/** The faults that the seeds of a change must contain, all together. */
const everything = [
  ...["disk full", "disk broken", "disk short", "disk slow", "power cut", "crash", "model", "tool", "clockJump"],
  ...["duplicates", "usurpedAt", "widens", "cancelAt", "cancelTaskAt", "crashed", "refused", "ended"],
  ...["run ok", "run failed", "run cancelled", "node.retried", "gate.answered", "tool.denied", "message.sent"],
  ...["limit.reached", "warning", "cancelled by the person", "pauseAt", "resumesOne", "budget", "closed"],
  ...["run.paused", "run.resumed", "node.parked", "node.unparked"],
];

function metIn({ faults, lives, journal, cancelled }: Story): string[] {
  const last = journal.at(-1);
  return [
    ...Object.keys(faults.disk).map((name) => `disk ${name}`),
    ...faults.crashes.map(({ power }) => (power ? "power cut" : "crash")),
    ...Object.entries(faults).flatMap(([name, drawn]) => (drawn === false ? [] : [name])),
    ...lives.map(({ end }) => end),
    ...journal.map(({ type }) => type),
    ...(cancelled ? ["cancelled by the person"] : []),
    ...(last?.type === "run.ended" ? [`run ${last.outcome.status}`] : []),
  ];
}
