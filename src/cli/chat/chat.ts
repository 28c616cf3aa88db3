import { Option } from "commander";
import { isCrewError } from "../../core/schema/error.ts";
import { terminalLine } from "../../core/view/words.ts";
import type { AttachedImage } from "../../core/vocabulary/image.ts";
import type { Run } from "../../runtime/run/run.ts";
import type { CliCommand } from "../base/command.ts";
import { type Flags, runOptions } from "../base/flags.ts";
import { imageOption, imagesFor, refusedImagesText, type TextOrigin } from "../base/images.ts";

/** The agent of a conversation for which no agent was named. */
export const MAIN_AGENT = "lead";

/** Run flags that `subcrew chat` does not have. */
const elsewhere: ReadonlySet<string> = new Set([
  "--bg",
  "--json",
  "--deltas",
  "--reuse",
  "--record",
  "--replay",
  "--replay-until",
  "--name",
  "--strict",
  "--yes",
  "--retry",
]);

export const mainAgentOption = (): Option =>
  new Option("--agent <name>", "the agent to talk to").default(MAIN_AGENT).helpGroup("Work:");

/** The command `subcrew chat`. */
export const chatCommand: CliCommand = {
  description:
    "Chats with a main agent that delegates to the other agents and receives summaries of their results. Every message is a stored run.",
  words: "[message...]",
  usage: '["MESSAGE"]',
  options: [
    mainAgentOption(),
    new Option(
      "--resume [run]",
      "continue an earlier conversation, by its run or words in it; without a value, list the conversations",
    ).helpGroup("Work:"),
    imageOption(),
    new Option(
      "--commands",
      "obey slash commands also in text from a pipe and in the message of the command line, for scripts",
    ).helpGroup("Work:"),
    ...runOptions().filter(({ long }) => !elsewhere.has(long ?? "")),
  ],
  examples: [
    ["subcrew chat", "start a conversation; /help lists the commands"],
    ['subcrew chat "Which tests are slow, and why?"', "begin with a question"],
    ["subcrew chat --resume run_4k2x", "continue where you left off"],
  ],
  notes:
    "Type while the agent works: Enter queues, Ctrl-S sends the message now. Esc or Ctrl-C stops the answer, a second Ctrl-C within two seconds leaves. Without a terminal each line of the input is a message, also one that begins with / or !.",
  act: async (words, flags) => {
    const [
      { trustedCrew, runOptionsOf },
      { terminal },
      { withFlags },
      { modelsOfFlag },
      { createConversation },
      { homeOf },
      surfaces,
      slash,
      { onSignals },
    ] = await Promise.all([
      import("../launch/start.ts"),
      import("../base/terminal.ts"),
      import("../launch/with-flags.ts"),
      import("../launch/settings.ts"),
      import("../../crew/conversation.ts"),
      import("../../crew/outfit/setup.ts"),
      import("./surface.ts"),
      import("./slash.ts"),
      import("../terminal/signals.ts"),
    ]);
    const crew = await trustedCrew(flags);
    const place = terminal(flags, crew.settings.config);
    const kept = await import("./kept-conversations.ts");
    const resumed =
      flags.resume === undefined
        ? undefined
        : await kept.conversationFor(crew, flags.resume === true ? "" : flags.resume);
    const report = (error: unknown): number => {
      if (!isCrewError(error)) throw error;
      return surface.report(error);
    };
    const atOnce = {
      takes: slash.isDoneMeanwhile,
      run: async (line: string): Promise<void> => {
        await slash.runSlashCommand(line, on()).catch(report);
      },
    };
    const surface = await surfaces.openSurface({
      atOnce,
      crew,
      flags,
      place,
      home: homeOf({ env: process.env }),
      slashNames: slash.slashNames,
    });
    const talk = createConversation({
      crew,
      options: {
        ...runOptionsOf(flags, place),
        outliving: {
          ended: ({ id, state }) => surface.print(`Task ${id} has ended: ${state.status}. /task-status ${id}`),
        },
      },
      model: flags.model === undefined ? undefined : modelsOfFlag(flags.model),
      opening: (text) => withFlags({ mode: "single", agent: flags.agent ?? MAIN_AGENT, task: text }, flags),
    });
    if (place.attended && !flags.quiet) surface.print(greeting(flags, place.look.colors.dim));
    if (resumed && "run" in resumed) {
      talk.moveTo(resumed.run);
      surface.recall(await kept.eventsOfConversation(crew, resumed.run));
    }
    if (resumed && "several" in resumed)
      surface.print(
        `${kept.conversationList(resumed.several, (process.stderr.columns || 80) - 1, place.look)}\n/resume RUN or /resume WORDS continues one of them.`,
      );
    let code = 0;
    let files = flags.image ?? []; // images of --image belong to the first message
    const show = async ({ run }: Readonly<{ run: Run }>): Promise<void> => {
      await surface.show(run);
      talk.ended(run);
      code = run.state.status === "ok" ? 0 : 1;
    };
    const undone = new Set<string>();
    const on = () => ({ crew, talk, flags, surface, show, undone });
    // Text from a pipe or in arguments may come from other people, as in `git log | subcrew chat`: it runs no commands.
    const typed: TextOrigin = process.stdin.isTTY ? "terminal" : "pipe";
    const take = async (line: string, origin: TextOrigin): Promise<boolean> => {
      try {
        if (line.startsWith("/") && (origin === "terminal" || flags.commands))
          return await slash.runSlashCommand(line, on());
        if (line.startsWith("!") && origin === "terminal") await surface.runCommand(line.slice(1).trim());
        else {
          const { images, refused } = await imagesFor(line, { files, cwd: crew.cwd, origin });
          files = [];
          const note = refusedImagesText(refused);
          if (note !== undefined) surface.print(note);
          if (images.length > 0 && !flags.quiet) surface.print(place.look.colors.dim(imageText(images)));
          await show(await talk.say(surface.withCommands(line), images));
        }
      } catch (error) {
        code = report(error);
      }
      return false;
    };
    const signals = onSignals({
      pause: surface.leave,
      ignores: (name) => name === "SIGINT" && surface.keepsInterrupt(),
    });
    try {
      let left = words.length > 0 && (await take(words.join(" "), "arguments"));
      while (!left && signals.code() === undefined) {
        const line = await surface.next();
        if (line === undefined) break;
        if (line.trim() !== "") left = await take(line.trim(), typed);
      }
    } finally {
      await surface.close();
      signals.stop();
    }
    const working = (await crew.kept.list())
      .filter(({ owner }) => owner?.pid === process.pid && !owner.host && !owner.pidNamespace)
      .map(({ id }) => id);
    if (!place.attended && signals.code() === undefined)
      await Promise.all(working.map((id) => crew.kept.ended(id, new AbortController().signal)));
    else for (const id of working) process.stderr.write(`${id} was still running; resume it: subcrew resume ${id}\n`);
    const last = talk.last();
    if (place.attended && !flags.quiet && last !== undefined)
      process.stderr.write(`${place.look.colors.dim(`continue later: subcrew chat --resume ${last}`)}\n`);
    return signals.code() ?? (place.attended ? 0 : code);
  },
};

const greeting = ({ agent = MAIN_AGENT }: Flags, dim: (text: string) => string): string =>
  dim(`Talking to ${agent}. /help lists the commands, Ctrl-D exits.`);

const imageText = (images: readonly AttachedImage[]): string =>
  `  with ${images.map(({ name, type }) => `${terminalLine(name)} (${type.replace("image/", "")})`).join(", ")}`;
