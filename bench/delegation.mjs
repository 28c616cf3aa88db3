// @ts-check
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const { createCrew, defineAgent } = await import(join(root, "dist/index.js"));
const { offline } = await import(join(root, "dist/models/offline/offline.js"));
const { scripted } = await import(join(root, "dist/models/scripted/scripted.js"));

/** Typical questions about this repository. */
const questions = [
  "Where is the order of the agent sources decided?",
  "How does a run give its slot back while its helpers work?",
  "Where are secrets taken out of events?",
  "How does race mode cancel the losers?",
  "Which code decides whether a tool may be used?",
  "How is a journal with a torn tail read?",
];
/** The largest allowed ratio of the context of a delegating agent to that of an agent that searches itself. */
const LIMIT = 0.5;

const home = mkdtempSync(join(tmpdir(), "subcrew-bench-"));
/** @type {Record<string, unknown>[]} */
const rows = [];
for (const question of questions) {
  const alone = await ask(question, "explore");
  const delegated = await ask(question, "lead");
  rows.push({ question, alone, delegated, saved: 1 - delegated.added / alone.added });
}
rmSync(home, { recursive: true, force: true });

/** @param {"alone" | "delegated"} how @param {"added" | "sent" | "everywhere"} what */
const total = (how, what) => rows.reduce((sum, row) => sum + /** @type {any} */ (row[how])[what], 0);
const added = { alone: total("alone", "added"), delegated: total("delegated", "added") };
const sent = { alone: total("alone", "sent"), delegated: total("delegated", "sent") };
const everywhere = { alone: total("alone", "everywhere"), delegated: total("delegated", "everywhere") };
const together = { alone: conversation("alone"), delegated: conversation("delegated") };
const saved = 1 - added.delegated / added.alone;

process.stdout.write(`subcrew delegation · what exploring this repository adds to a conversation, in bytes\n\n`);
for (const row of rows) {
  const { alone, delegated, question, saved: part } = /** @type {any} */ (row);
  process.stdout.write(
    `${String(alone.added).padStart(8)} ${String(delegated.added).padStart(8)} ${percent(part)}  ${question}\n`,
  );
}
process.stdout.write(
  `${String(added.alone).padStart(8)} ${String(added.delegated).padStart(8)} ${percent(saved)}  all questions\n\n`,
);
process.stdout.write(
  `sent to the model of the main conversation in all turns: ${sent.alone} alone, ${sent.delegated} delegated\n`,
);
process.stdout.write(`and to all models: ${everywhere.alone} alone, ${everywhere.delegated} delegated\n`);
process.stdout.write(
  `the same, when all questions are asked in one conversation: ${together.alone} alone, ${together.delegated} delegated\n`,
);
mkdirSync(join(import.meta.dirname, "results"), { recursive: true });
writeFileSync(
  join(import.meta.dirname, "results/delegation.json"),
  `${JSON.stringify({ node: process.version, rows, added, sent, everywhere, together, saved }, null, 1)}\n`,
);
process.stdout.write(saved >= LIMIT ? "PASS: all limits are met\n" : `FAIL: less than ${percent(LIMIT)} is saved\n`);
if (saved < LIMIT) process.exitCode = 1;

/**
 * Asks one question: an agent that searches itself, or one that delegates the search. The model that searches is the
 * offline model in both cases. The conversation of the asked agent is measured.
 *
 * @param {string} question @param {string} agent
 */
async function ask(question, agent) {
  /** @type {any[]} */
  const requests = [];
  const watched = async function* (/** @type {any} */ request, /** @type {AbortSignal} */ signal) {
    requests.push(request);
    yield* offline(request, signal);
  };
  const lead = scripted(
    { calls: [{ name: "Task", input: { description: "look it up", prompt: question, subagent_type: "explore" } }] },
    (/** @type {any} */ request) => String(request.messages.at(-1).results[0].text).slice(0, 600),
  );
  const crew = createCrew({
    cwd: root,
    home,
    discover: false,
    env: { PATH: process.env["PATH"], HOME: home },
    agents: [
      defineAgent({
        name: "lead",
        description: "leads",
        instructions: "Have it looked up.",
        model: "lead",
        tools: ["*", "Task"],
      }),
    ],
    models: { offline: watched, lead },
    model: "offline",
    config: { agents: { explore: { model: "offline" } } },
  });
  const result = await crew.run({ mode: "single", agent, task: question });
  if (result.status !== "ok") throw new Error(`${question}: ${result.fault?.message ?? result.status}`);
  const own = agent === "lead" ? lead.requests : requests;
  const last = own.at(-1);
  const sizeOf = (/** @type {any} */ request) => bytes([request.system, request.messages, request.tools]);
  const sum = (/** @type {any[]} */ all) => all.reduce((size, request) => size + sizeOf(request), 0);
  return {
    turns: own.length,
    added: bytes(last.messages.slice(1)) + bytes(result.output),
    sent: sum(own),
    everywhere: agent === "lead" ? sum(own) + sum(requests) : sum(own),
  };
}

/**
 * The total that is sent to all models when the questions are asked in one conversation: each turn sends the earlier
 * ones again.
 *
 * @param {"alone" | "delegated"} how
 */
function conversation(how) {
  let carried = 0;
  let all = 0;
  for (const row of rows) {
    const { turns, added: grown, everywhere: own } = /** @type {any} */ (row[how]);
    all += own + turns * carried;
    carried += grown;
  }
  return all;
}

/** @param {unknown} value */
function bytes(value) {
  return Buffer.byteLength(JSON.stringify(value));
}

/** @param {number} part */
function percent(part) {
  return `${Math.round(part * 100)} %`.padStart(5);
}
