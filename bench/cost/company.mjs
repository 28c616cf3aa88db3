// @ts-check
import { openContender } from "../loop/company.mjs";
import { above, inTurns, middle, shown } from "./measure.mjs";

const names = ["http-floor", "floor", "subcrew", "pi-agent-core"];
const TURNS = 50;
const AGENTS = 1_000;
/** The maximum number of samples with a thousand agents, which take seconds each. */
const MOST_CROWDS = 3;

/**
 * Measures one agent with 50 tool turns, compared with the floors (hand-written loops as lower bounds) and the program
 * pi. @type {import("./measure.mjs").Part}
 */
export async function turn({ url, rounds }) {
  const job = {
    agents: 1,
    result: 200,
    expected: "done",
    baseURL: `${url}/0/v1`,
    prompt: `TURNS ${TURNS}`,
    turns: TURNS,
  };
  const company = new Map();
  for (const name of names) company.set(name, await openContender(name));
  const ways = Object.fromEntries(
    names.map((name) => [
      name,
      async () => {
        const { ms, cpu } = await company.get(name).ask(job);
        return { wall: ms / (TURNS + 1), cpu: cpu / (TURNS + 1) };
      },
    ]),
  );
  const raw = await inTurns(ways, { rounds: rounds * 2, warmUp: 4 });
  for (const one of company.values()) one.close();
  const of = (/** @type {string} */ name) => middle(raw[name] ?? []);
  const ratio = (/** @type {string} */ name, floor = "http-floor") => of(name).wall / of(floor).wall;
  return {
    title: "One agent, 50 tool turns: milliseconds per turn",
    how: `medians of ${rounds * 2} rounds, each contender in a process of its own`,
    columns: ["", "wall", "cpu", "x node:http", "x fetch", ""],
    rows: names.map((name) => [
      name,
      shown(of(name).wall),
      shown(of(name).cpu),
      ratio(name).toFixed(2),
      ratio(name, "floor").toFixed(2),
      "",
    ]),
    failed: [],
    raw,
    table: [
      {
        what: "a turn",
        ours: `${ratio("subcrew").toFixed(2)}x floor, ${shown(of("subcrew").cpu)} ms CPU`,
        peers: `pi ${ratio("pi-agent-core").toFixed(2)}x; fetch floor ${ratio("floor").toFixed(2)}x`,
        goal: "less than each peer",
        met: ratio("subcrew") < ratio("pi-agent-core"),
      },
    ],
  };
}

/**
 * Measures a thousand agents with five tool turns each.
 *
 * @param {{ separate: boolean, times: number, kilobytes: number }} limits separate: each agent is a run of its own
 * @returns {import("./measure.mjs").Part}
 */
export const crowd =
  ({ separate, times, kilobytes }) =>
  async ({ url, rounds: asked }) => {
    const rounds = Math.min(asked, MOST_CROWDS);
    const job = { agents: AGENTS, separate, result: 200, expected: "", prompt: "TURNS 5", turns: 5 };
    const ways = Object.fromEntries(
      names.map((name) => [
        name,
        async () => {
          const one = await openContender(name); // a new process, because memory after earlier work is not representative
          for (let warm = 0; warm < 2; warm += 1) await one.ask({ ...job, agents: 20, baseURL: `${url}/0/v1` });
          const { ms, cpu, bytes } = await one.ask({ ...job, baseURL: `${url}/50/v1` });
          one.close();
          return { wall: ms, cpu, kilobytes: bytes / AGENTS / 1_024 };
        },
      ]),
    );
    const raw = await inTurns(ways, { rounds, warmUp: 0 });
    const of = (/** @type {string} */ name) => ({
      ...middle(raw[name] ?? []),
      kilobytes: middle((raw[name] ?? []).map(({ kilobytes: kb }) => ({ wall: kb, cpu: kb }))).wall,
    });
    const ratio = (/** @type {string} */ name, floor = "http-floor") => of(name).wall / of(floor).wall;
    const how = separate ? "one run each" : "in one parallel run";
    const failed = [
      ...above(`1,000 agents ${how}, x floor`, ratio("subcrew"), times),
      ...above(`1,000 agents ${how}, KB each`, of("subcrew").kilobytes, kilobytes),
    ];
    return {
      title: `1,000 agents ${how}, 5 tool turns each, 50 ms latency: milliseconds in all, KB per agent`,
      how: `medians of ${rounds}, each in a new process that warmed up with 20 agents; memory is the growth of the resident set at its peak`,
      columns: ["", "wall", "cpu", "x node:http", "x fetch", "KB", ""],
      rows: names.map((name) => [
        name,
        of(name).wall.toFixed(0),
        of(name).cpu.toFixed(0),
        ratio(name).toFixed(2),
        ratio(name, "floor").toFixed(2),
        of(name).kilobytes.toFixed(0),
        name !== "subcrew" ? "" : failed.length > 0 ? "FAIL" : "PASS",
      ]),
      failed,
      raw,
      table: [
        {
          what: `1,000 agents, ${how}`,
          ours: `${ratio("subcrew").toFixed(2)}x floor, ${of("subcrew").kilobytes.toFixed(0)} KB each`,
          peers: `pi ${ratio("pi-agent-core").toFixed(2)}x, ${of("pi-agent-core").kilobytes.toFixed(0)} KB; fetch floor ${ratio("floor").toFixed(2)}x`,
          goal: `<= ${times}x, <= ${kilobytes} KB`,
          met: failed.length === 0,
        },
      ],
    };
  };
