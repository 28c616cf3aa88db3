import { jsonText } from "../../core/text/json-text.ts";
import type { ModelOverview, NameView } from "../../models/registry/overview.ts";
import type { CliCommand } from "../base/command.ts";
import { colorOption, jsonOption } from "../base/flags.ts";

/** The command `subcrew models`. */
export const models: CliCommand = {
  description: "Shows which model each name stands for here, which keys were found, and the address of each provider.",
  options: [jsonOption(), colorOption()],
  examples: [
    ["subcrew models", "what `fast` is right now"],
    ["OLLAMA_HOST=gpu:11434 subcrew models --json", "for a program, with another address"],
  ],
  notes:
    "A model is given as a tier, a shortcut or provider/model, or as a list of these; `:high` after a name raises the thinking level.",
  act: async (_, flags) => {
    const [{ crewFor }, { table }, { stdoutLook }] = await Promise.all([
      import("../launch/start.ts"),
      import("../base/table.ts"),
      import("../base/terminal.ts"),
    ]);
    const crew = await crewFor({});
    const overview = crew.masked(await crew.models({ probe: new AbortController().signal }));
    if (flags.json) {
      process.stdout.write(`${jsonText(overview, 2)}\n`);
      return 0;
    }
    const look = stdoutLook(flags);
    const parts = sections(overview).map(([title, rows]) => `${look.colors.bold(title)}\n${table(rows, look)}`);
    process.stdout.write(parts.join("\n"));
    return 0;
  },
};

type Row = Readonly<Record<string, string>>;

function sections({
  default: usual,
  tiers,
  shortcuts,
  providers,
}: ModelOverview): (readonly [string, readonly Row[]])[] {
  return [
    ["Tiers", [...tiers, { ...usual, name: "default" }].map(nameRow)],
    ["Shortcuts", shortcuts.map(nameRow)],
    [
      "Providers",
      providers.map(({ name, usable, because, baseURL, baseURLFrom, keyless, probe }) => ({
        name,
        state: usable ? STATES[probe?.state ?? "unclear"] : "no key",
        because: probe === undefined ? because : keyless ? `${probe.why}${namesOf(probe.models)}` : probe.why,
        address: baseURLFrom === undefined ? baseURL : `${baseURL} (${baseURLFrom})`,
      })),
    ],
  ];
}

const STATES = { answers: "ready", refused: "refused", silent: "no answer", unclear: "unclear" } as const;

/** Lists the first three models of a local server. */
const namesOf = (models: readonly string[]): string =>
  models.length === 0 ? "" : `: ${models.slice(0, 3).join(", ")}${models.length > 3 ? ", ..." : ""}`;

const nameRow = ({ name, model, because }: NameView): Row => ({ name, model: model ?? "-", because });
