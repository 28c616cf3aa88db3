import { Option } from "commander";
import { CrewError } from "../../core/schema/error.ts";
import type { Crew } from "../../crew/crew-type.ts";
import type { CliCommand } from "../base/command.ts";
import { colorOption, type Flags } from "../base/flags.ts";

const shared = (): Option[] => [
  new Option("--notify <how>", "notify when something needs you: terminal bell, or terminal notification (OSC 9)")
    .choices(["bell", "osc9"])
    .helpGroup("Output:"),
  colorOption(),
];

const KEYS =
  "The keys for the selected row are always shown; ? explains all of them. Leaving the screen changes nothing: runs continue.";

/** The command `subcrew top`. */
export const topCommand: CliCommand = {
  description:
    "Shows all runs on one screen: runs that need you, have failed, work, wait (and for what) or are done. With the keys of the selected row you answer, send messages, pause, cancel and retry.",
  options: [new Option("--all", "runs of all projects, not only of this one"), ...shared()],
  examples: [
    ["subcrew top", "the runs of this project"],
    ["subcrew top --all --notify bell", "all runs; ring when one needs you"],
  ],
  notes: KEYS,
  act: async (_, flags) => show(flags, "subcrew ps", { everywhere: flags.all ?? false }),
};

/** The command `subcrew watch [RUN]`. */
export const watchCommand: CliCommand = {
  description: "Shows the tasks of one run on the same screen as `subcrew top`, while it runs or after its end.",
  words: "[run]",
  usage: "[RUN]",
  options: shared(),
  examples: [
    ["subcrew watch", "the newest run"],
    ["subcrew watch nightly", "a run by its name, or the beginning of its id"],
  ],
  notes: KEYS,
  act: async ([word], flags) => show(flags, "subcrew status RUN", { word, one: true, everywhere: true }),
};

type Shown = Readonly<{ word?: string | undefined; one?: true; everywhere: boolean }>;

async function show(flags: Flags, instead: string, { word, one, everywhere }: Shown): Promise<number> {
  const [{ terminal }, { crewFor }] = await Promise.all([import("../base/terminal.ts"), import("../launch/start.ts")]);
  const { live, attended } = terminal(flags);
  if (!live || !attended)
    throw new CrewError("BAD_INPUT", "This command needs a terminal.", `Without a terminal, use \`${instead}\`.`);
  const run = one ? await runFor(word) : undefined;
  const [crew, { showTop }] = await Promise.all([crewFor({}), import("../screen/show-top.ts")]);
  return showTop(crew, { look: terminal(flags, crew.settings.config).look, run, everywhere, notify: flags.notify });
}

/** The given run, or the newest run. */
async function runFor(word: string | undefined): Promise<string> {
  const { findRun } = await import("../runs/find-run.ts");
  if (word !== undefined) return (await findRun(word)).run.id;
  const { crewFor } = await import("../launch/start.ts");
  const crew: Crew = await crewFor({});
  const [newest] = await crew.runs();
  if (newest === undefined)
    throw new CrewError("UNKNOWN_RUN", "No runs yet.", 'Start a run: `subcrew run explore "..."`.');
  return newest;
}
