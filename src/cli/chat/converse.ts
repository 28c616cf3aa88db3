import { isCrewError } from "../../core/schema/error.ts";
import { terminalLine } from "../../core/view/words.ts";
import type { AttachedImage } from "../../core/vocabulary/image.ts";
import { type ChatConversation, createConversation } from "../../crew/conversation.ts";
import type { Crew } from "../../crew/crew-type.ts";
import { homeOf } from "../../crew/outfit/setup.ts";
import type { Run } from "../../runtime/run/run.ts";
import type { Flags } from "../base/flags.ts";
import { imagesFor, refusedImagesText, type TextOrigin } from "../base/images.ts";
import { type Terminal, terminal } from "../base/terminal.ts";
import { modelsOfFlag, runOptionsOf } from "../launch/settings.ts";
import { trustedCrew } from "../launch/start.ts";
import { withFlags } from "../launch/with-flags.ts";
import { onSignals } from "../terminal/signals.ts";
import { MAIN_AGENT } from "./main-agent.ts";
import { conversationFor, conversationList, eventsOfConversation } from "./kept-conversations.ts";
import { isDoneMeanwhile, runSlashCommand, type Slash, slashNames } from "./slash.ts";
import { type ChatSurface, openSurface } from "./surface.ts";

/** Talks with the main agent until the person leaves or the input ends. Returns the exit code. */
export async function converse(words: readonly string[], flags: Flags): Promise<number> {
  const crew = await trustedCrew(flags);
  const place = terminal(flags, crew.settings.config);
  const resumed =
    flags.resume === undefined ? undefined : await conversationFor(crew, flags.resume === true ? "" : flags.resume);
  const chat: { opened?: Chat } = {};
  const surface = await openSurface({
    atOnce: { takes: isDoneMeanwhile, run: async (line) => void (await chat.opened?.slash(line)) },
    crew,
    flags,
    place,
    home: homeOf({ env: process.env }),
    slashNames,
  });
  chat.opened = new Chat({ crew, flags, place, surface });
  return chat.opened.hold(words, resumed);
}

type ChatParts = Readonly<{ crew: Crew; flags: Flags; place: Terminal; surface: ChatSurface }>;
type Resumed = Awaited<ReturnType<typeof conversationFor>>;

class Chat {
  readonly #parts: ChatParts;
  readonly #talk: ChatConversation;
  readonly #undone = new Set<string>();
  /** Images of --image, which belong to the first message. */
  #files: readonly string[];
  #code = 0;

  constructor(parts: ChatParts) {
    const { crew, flags, place, surface } = parts;
    this.#parts = parts;
    this.#files = flags.image ?? [];
    this.#talk = createConversation({
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
  }

  /** Takes messages until the person leaves or the input ends. Returns the exit code. */
  async hold(words: readonly string[], resumed: Resumed | undefined): Promise<number> {
    const { flags, place, surface } = this.#parts;
    if (place.attended && !flags.quiet) surface.print(greeting(flags, place.look.colors.dim));
    if (resumed) await this.#resume(resumed);
    // Text from a pipe or in arguments may come from other people, as in `git log | subcrew chat`: it runs no commands.
    const typed: TextOrigin = process.stdin.isTTY ? "terminal" : "pipe";
    const signals = onSignals({
      pause: surface.leave,
      ignores: (name) => name === "SIGINT" && surface.keepsInterrupt(),
    });
    try {
      let left = words.length > 0 && (await this.#take(words.join(" "), "arguments"));
      while (!left && signals.code() === undefined) {
        const line = await surface.next();
        if (line === undefined) break;
        if (line.trim() !== "") left = await this.#take(line.trim(), typed);
      }
    } finally {
      await surface.close();
      signals.stop();
    }
    await this.#endWork(signals.code() !== undefined);
    const last = this.#talk.last();
    if (place.attended && !flags.quiet && last !== undefined)
      process.stderr.write(`${place.look.colors.dim(`continue later: subcrew chat --resume ${last}`)}\n`);
    return signals.code() ?? (place.attended ? 0 : this.#code);
  }

  /** Runs a slash command; true when it ends the conversation. */
  slash(line: string): Promise<boolean> {
    return runSlashCommand(line, this.#slashParts()).catch((error: unknown) => {
      this.#report(error);
      return false;
    });
  }

  #slashParts(): Slash {
    const { crew, flags, surface } = this.#parts;
    return { crew, talk: this.#talk, flags, surface, show: (shown) => this.#show(shown), undone: this.#undone };
  }

  #report(error: unknown): number {
    if (!isCrewError(error)) throw error;
    return this.#parts.surface.report(error);
  }

  async #resume(resumed: Resumed): Promise<void> {
    const { crew, place, surface } = this.#parts;
    if ("run" in resumed) {
      this.#talk.moveTo(resumed.run);
      return surface.recall(await eventsOfConversation(crew, resumed.run));
    }
    const list = conversationList(resumed.several, (process.stderr.columns || 80) - 1, place.look);
    surface.print(`${list}\n/resume RUN or /resume WORDS continues one of them.`);
  }

  /** Takes a line: a message, or at a terminal a command. True when it ends the conversation. */
  async #take(line: string, origin: TextOrigin): Promise<boolean> {
    const { flags, surface } = this.#parts;
    try {
      if (line.startsWith("/") && (origin === "terminal" || flags.commands))
        return await runSlashCommand(line, this.#slashParts());
      if (line.startsWith("!") && origin === "terminal") await surface.runCommand(line.slice(1).trim());
      else await this.#say(line, origin);
    } catch (error) {
      this.#code = this.#report(error);
    }
    return false;
  }

  async #say(line: string, origin: TextOrigin): Promise<void> {
    const { crew, flags, place, surface } = this.#parts;
    const { images, refused } = await imagesFor(line, { files: this.#files, cwd: crew.cwd, origin });
    this.#files = [];
    const note = refusedImagesText(refused);
    if (note !== undefined) surface.print(note);
    if (images.length > 0 && !flags.quiet) surface.print(place.look.colors.dim(imageText(images)));
    await this.#show(await this.#talk.say(surface.withCommands(line), images));
  }

  async #show({ run }: Readonly<{ run: Run }>): Promise<void> {
    await this.#parts.surface.show(run);
    this.#talk.ended(run);
    this.#code = run.state.status === "ok" ? 0 : 1;
  }

  /** Waits for tasks in the background where nobody can resume them, else names them. */
  async #endWork(isInterrupted: boolean): Promise<void> {
    const { kept } = this.#parts.crew;
    const working = (await kept.list())
      .filter(({ owner }) => owner?.pid === process.pid && !owner.host && !owner.pidNamespace)
      .map(({ id }) => id);
    if (!this.#parts.place.attended && !isInterrupted)
      await Promise.all(working.map((id) => kept.ended(id, new AbortController().signal)));
    else for (const id of working) process.stderr.write(`${id} was still running; resume it: subcrew resume ${id}\n`);
  }
}

const greeting = ({ agent = MAIN_AGENT }: Flags, dim: (text: string) => string): string =>
  dim(`Talking to ${agent}. /help lists the commands, Ctrl-D exits.`);

const imageText = (images: readonly AttachedImage[]): string =>
  `  with ${images.map(({ name, type }) => `${terminalLine(name)} (${type.replace("image/", "")})`).join(", ")}`;
