import { emptyState, reduce } from "../../dist/core/run/state.js";

const AGENTS = 200;
const WORKING = 140;

/** The time between two updates of the screen. */
export const EVERY_MS = 100;

/**
 * One run with 200 agents, 140 of which write something in every tick.
 *
 * @returns {{ state: import("../../dist/core/run/state.js").State; tick(): void }}
 */
export function createFeed() {
  const state = emptyState("run_bench0000000");
  const ids = Array.from({ length: AGENTS }, (_, at) => `agent-${String(at).padStart(3, "0")}`);
  const prompt = (/** @type {number} */ at) => `Look into part ${at} of the sources`;
  let seq = 0;
  let now = Date.now();
  /** @param {string} path @param {object} fact */
  const emit = (path, fact) => {
    seq += 1;
    reduce(state, { seq, run: state.run, at: now, path, ...fact });
  };
  const nodes = Object.fromEntries(
    ids.map((id, at) => [id, { kind: "task", task: { agent: "explore", prompt: prompt(at) } }]),
  );
  const model = "claude-sonnet-4-5";
  emit("", { type: "run.started", plan: { nodes, output: ids[0] }, cwd: "/work", version: "1" });
  ids.slice(0, WORKING).forEach((id, at) => {
    emit(id, { type: "node.started", kind: "task", attempt: 1, agent: "explore", prompt: prompt(at) });
    emit(id, { type: "turn.started", turn: 1, model, limits: { maxTurns: 30, maxTimeMs: 600_000 } });
  });
  let count = 0;
  return {
    state,
    tick: () => {
      count += 1;
      now += EVERY_MS;
      for (let at = 0; at < WORKING; at += 1) {
        const id = ids[at] ?? "";
        const preview = `src/part-${at}/file-${count}.ts`;
        if ((count + at) % 10 === 0) emit(id, { type: "turn.started", turn: 1 + Math.floor(count / 10), model });
        else if ((count + at) % 10 === 5)
          emit(id, { type: "tool.started", call: "1", tool: "read_file", preview, effect: "read" });
        else if ((count + at) % 10 === 6)
          emit(id, { type: "tool.ended", call: "1", tool: "read_file", text: "", ms: 3, error: false });
        else emit(id, { type: "text.delta", text: `word ${count} of ${at} ` });
      }
    },
  };
}
