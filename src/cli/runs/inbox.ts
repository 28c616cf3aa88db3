import { Option } from "commander";
import { answerKind, misfit } from "../../core/plan/answer-kind.ts";
import type { Answer } from "../../core/plan/gate.ts";
import { openQuestions, type Question } from "../../core/run/run-status.ts";
import { CrewError } from "../../core/schema/error.ts";
import type { Look } from "../../core/view/look.ts";
import { took } from "../../core/view/words.ts";
import { jsonText } from "../../core/text/json-text.ts";
import { sanitize } from "../../core/text/sanitize.ts";
import type { CliCommand } from "../base/command.ts";
import { colorOption, type Flags, jsonOption } from "../base/flags.ts";
import type { Crew } from "../../crew/crew-type.ts";
import type { NamedRun } from "./find-run.ts";
import type { InboxQuestion } from "./inbox-triage.ts";
import type { Receipt } from "../../core/run/run-command.ts";
import { printReceipt } from "../terminal/print-receipt.ts";

const HOW =
  'Answer with `subcrew inbox allow ID`, `subcrew inbox deny ID "what to change"` or `subcrew inbox answer ID "..."`.';

/** The command `subcrew inbox`. */
export const inbox: CliCommand = {
  description: "Lists open questions, approvals and permission requests of all your runs, wherever they were started.",
  options: [jsonOption(), colorOption()],
  examples: [
    ["subcrew inbox", "list open questions"],
    ["subcrew inbox allow run_4k2x", "approve the only open question of a run"],
    ['subcrew inbox answer run_4k2x/lead "Use the second one."', "answer in words"],
    ['subcrew inbox deny run_4k2x/page.1/approval "Make it shorter."', "deny, and say what to change"],
  ],
  notes:
    "The first answer counts, whether it is given here, in the run's own terminal or in `subcrew attach`. An answer for an interrupted run waits until the run is resumed.",
  act: async (_, flags) => {
    const { crewFor } = await import("../launch/start.ts");
    const { kept, settings } = await crewFor({});
    const look = (await import("../base/terminal.ts")).stdoutLook(flags, settings.config);
    const asked = await kept.questions();
    if (flags.json) process.stdout.write(`${jsonText(asked, 2)}\n`);
    else if (asked.length === 0) process.stderr.write("The inbox is empty.\n");
    else {
      const { attended } = (await import("../base/terminal.ts")).terminal(flags);
      if (attended && process.stdout.isTTY) return goThrough(asked, flags);
      process.stdout.write(`${asked.map((one) => shown(one, Date.now(), look)).join("\n\n")}\n`);
      process.stderr.write(`\n${HOW}\n`);
    }
    return 0;
  },
  commands: {
    answer: answerCommand(
      "answer",
      "Answers a question in words.",
      'RUN[/TASK] "TEXT"',
      ['run_4k2x/lead "Use the second one."', "answer in words"],
      [],
      (text) => {
        if (text === "")
          throw new CrewError(
            "BAD_INPUT",
            "No answer text was given.",
            'Give the answer after the run, as in `subcrew inbox answer RUN "..."`.',
          );
        return { approve: true, text };
      },
    ),
    allow: answerCommand(
      "allow",
      "Approves a request of a run.",
      "RUN[/TASK]",
      ["run_4k2x --always", "approve the call, also when it is repeated in this run"],
      [
        new Option("--always", "do not ask about exactly the same call again"),
        new Option(
          "--scope <whom>",
          "with --always: in this run, in this project, or everywhere (default: run)",
        ).choices(["run", "project", "user"]),
        new Option("--with-network", "the command may use the network this time, where the question offers it"),
      ],
      (text, { always, scope, withNetwork }) => {
        if (scope !== undefined && !always)
          throw new CrewError("BAD_INPUT", "--scope requires --always.", "Add --always, or leave out --scope.");
        return {
          approve: true,
          ...(text !== "" && { text }),
          ...(always && { always: true, scope: scope ?? "run" }),
          ...(withNetwork && { network: true }),
        };
      },
    ),
    deny: answerCommand(
      "deny",
      "Denies a request of a run; the words after the run say what to change.",
      'RUN[/TASK] ["TEXT"]',
      ['run_4k2x/page.1/approval "Make it shorter."', "deny, and say what to change"],
      [],
      (text) => ({ approve: false, ...(text !== "" && { text }) }),
    ),
    export: {
      description: "Prints your decisions about calls as permission rules, for runs without a person to ask.",
      words: "[runs...]",
      usage: "[RUN...]",
      options: [jsonOption()],
      examples: [["subcrew inbox export nightly", "the rules of one run; without a run, of all"]],
      act: async (words, flags) => (await import("./inbox-export.ts")).exportDecisions(words, flags),
    },
  },
};

/** On a terminal: lists the questions, one line each, then asks them one by one. */
async function goThrough(asked: readonly InboxQuestion[], flags: Flags): Promise<number> {
  const [{ crewFor }, { stdoutLook }, { inboxLine, triage }] = await Promise.all([
    import("../launch/start.ts"),
    import("../base/terminal.ts"),
    import("./inbox-triage.ts"),
  ]);
  const crew = await crewFor({});
  const look = stdoutLook(flags, crew.settings.config);
  const columns = process.stdout.columns || 80;
  process.stdout.write(`${asked.map((one) => inboxLine(one, Date.now(), columns, look)).join("\n")}\n`);
  await triage(crew, asked, {
    look,
    give: async (one, answer) => (await send(crew, one, answer)).text,
  });
  return 0;
}

/** Sends an answer to the run. When a process works on the run, waits for its receipt. */
async function send(
  crew: Crew,
  { run, path, question, call, wants, offersNetwork }: Question,
  answer: Answer,
): Promise<Receipt> {
  const problem = misfit(answerKind({ call, wants }), answer, offersNetwork);
  if (problem !== undefined)
    throw new CrewError("BAD_INPUT", problem, "`subcrew inbox` shows which kind of answer the question needs.");
  return crew.open(run).answer(path, answer, { question, call });
}

type Say = (text: string, flags: Flags) => Answer;

function answerCommand(
  name: string,
  description: string,
  usage: string,
  [example, what]: readonly [string, string],
  options: readonly Option[],
  say: Say,
): CliCommand {
  return {
    description,
    words: "[run] [text...]",
    usage,
    options: [...options, jsonOption()],
    examples: [[`subcrew inbox ${name} ${example}`, what]],
    act: async ([word, ...text], flags) => {
      const { findRun } = await import("./find-run.ts");
      const answer = { ...say(text.join(" ").trim(), flags), by: "the inbox" };
      const which = await findRun(word, "No run or question given.");
      const question = theQuestion(which);
      if (question.wants === "words" && answer.approve && answer.text === undefined)
        throw new CrewError(
          "BAD_INPUT",
          `"${question.run}/${question.path}" asks for an answer in words.`,
          `Give the answer with \`subcrew inbox answer ${question.run}/${question.path} "..."\`, or refuse with \`inbox deny\`.`,
        );
      return hand(which, question, answer, flags);
    },
  };
}

/** The question to answer: the question of the given task, or the only question of the run. */
function theQuestion({ run, path }: NamedRun): Question {
  const open = openQuestions(run.state);
  const [only, ...others] = path === undefined ? open : open.filter((one) => one.path === path);
  if (only === undefined) {
    const view = path === undefined ? undefined : run.state.nodes.get(path);
    const who = view?.answer ? ` The question was already answered by ${view.answer.by ?? "another person"}.` : "";
    throw new CrewError(
      "UNKNOWN_GATE",
      `"${run.id}${path === undefined ? "" : `/${path}`}" has no open question.${who}`,
      "`subcrew inbox` lists the open questions.",
    );
  }
  if (others.length > 0)
    throw new CrewError(
      "UNKNOWN_GATE",
      `"${run.id}" has ${others.length + 1} open questions.`,
      `Name one of: ${[only, ...others].map((one) => `${one.run}/${one.path}`).join(", ")}.`,
    );
  return only;
}

const hand = async ({ crew, run }: NamedRun, question: Question, answer: Answer, flags: Flags): Promise<number> =>
  printReceipt(run.id, await send(crew, question, answer), flags);

function shown(asked: Question & { life: string; name?: string; answered: boolean }, now: number, look: Look): string {
  const { run, path, question, wants, askedAt, name, agent, life, answered } = asked;
  const about = [
    name,
    agent,
    `${took(now - askedAt, look, "spaced")} ago`,
    ...(wants === "words" ? ["wants an answer in words"] : []),
    ...(life === "interrupted" ? ["interrupted"] : []),
    ...(answered ? ["answered; applied when the run is resumed"] : []),
  ];
  return `${look.colors.bold(sanitize(`${run}/${path}`))}  (${about
    .filter((part) => part !== undefined)
    .map(sanitize)
    .join(", ")})\n${sanitize(question).replace(/^(?=.)/gm, "  ")}`;
}
