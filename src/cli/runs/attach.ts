import { exitCodeOfRun } from "../../core/run/result.ts";
import { isEnded, openQuestions } from "../../core/run/run-status.ts";
import type { AnswerHandlers } from "../terminal/gates.ts";
import type { CliCommand } from "../base/command.ts";
import { resultStream } from "../terminal/result-text.ts";
import { outputOptions } from "../base/flags.ts";

/** The command `subcrew attach RUN`. */
export const attach: CliCommand = {
  description: "Follows a run of another process and answers its questions. Ctrl-C detaches; the run continues.",
  words: "[run]",
  usage: "RUN",
  options: outputOptions().filter(({ long }) => long !== "--deltas"),
  examples: [["subcrew attach nightly", "watch a run in the background"]],
  act: async ([word], flags) => {
    const [
      { findRun },
      { terminal },
      { followOnScreen },
      { writeEnd },
      { createTextSink },
      { writeJsonLines },
      gates,
      { openTerminal },
      { onSignals },
    ] = await Promise.all([
      import("./find-run.ts"),
      import("../base/terminal.ts"),
      import("../watch/run-keys.ts"),
      import("../watch/run-output.ts"),
      import("../../sinks/text.ts"),
      import("../../sinks/jsonl.ts"),
      import("../terminal/gates.ts"),
      import("../watch/watch-run.ts"),
      import("../terminal/signals.ts"),
    ]);
    const { crew, run } = await findRun(word);
    const { id } = run;
    const { look, live, attended } = terminal(flags, crew.settings.config);
    const view = crew.kept.follow(id);
    // Shows all events of an ended run, and only new events of a running one.
    const since = isEnded(run.life) ? 0 : Date.now();
    let away = false;
    const detach = (): void => {
      away = true;
      view.cancel("detached");
    };
    const ended = onSignals({ pause: detach }, ["SIGTERM", "SIGHUP"]);
    const over = new AbortController();
    const receipts: Promise<unknown>[] = [];
    process.on("SIGINT", detach);
    process.stdout.once("error", detach);
    const give: AnswerHandlers["give"] = async ({ path, question, call }, answer) => {
      const sent = crew.open(id, { signal: over.signal }).answer(path, answer, { question, call });
      receipts.push(sent.catch(() => undefined));
      return (await sent).text;
    };
    // The view repeats all recorded events, so only questions that are still open are asked.
    const asked = openQuestions(run.state);
    const isOpen: AnswerHandlers["isOpen"] = ({ path, call, at, ...event }) =>
      ("seq" in event && event.seq > run.state.seq) ||
      asked.some((one) => one.path === path && one.call === call && one.askedAt === at);
    const out = flags.json ? process.stdout : resultStream();
    const err = process.stderr;
    const quiet = flags.quiet ?? false;
    const text = createTextSink({ out, err, look, quiet, since });
    if (!flags.json) text.say(`watching ${id} (${run.life})`);
    let { end } = text;
    try {
      if (live && !quiet && !flags.json) {
        const interruptText = "detaches";
        const shown = { crew, look, since, isOpen, out, attended, interrupt: detach, interruptText };
        await followOnScreen(view, { ...shown, canMove: false, answer: give });
        end = ({ state }) => writeEnd(state, { look, out });
      } else {
        const { keys, person } = openTerminal(text, { attended, interrupt: detach });
        keys?.start();
        await Promise.all([
          flags.json ? writeJsonLines(view, out) : text.follow(view),
          attended ? gates.answerGates(view, person, { isOpen, give, giveUp: detach, tell: text.say }) : undefined,
        ]).finally(() => keys?.stop());
      }
      // Waits until the run has confirmed each answer: the last answer can end the run before its confirmation is read.
      if (!away) await Promise.all(receipts);
    } finally {
      over.abort();
      process.off("SIGINT", detach);
      ended.stop();
    }
    const now = await crew.kept.look(id);
    if (isEnded(now.life)) {
      if (!flags.json) end(view);
      return exitCodeOfRun(now.state);
    }
    const idle = now.life === "interrupted" || now.life === "paused";
    if (idle) process.stderr.write(`${id} is ${now.life}: no process is running it.\nnext: subcrew resume ${id}\n`);
    else if (away) process.stderr.write(`${id} continues in the background.\nnext: subcrew attach ${id}\n`);
    return ended.code() ?? (idle ? 1 : 0);
  },
};
