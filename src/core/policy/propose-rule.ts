import { runnerIn } from "../shell/runners.ts";
import { isRecord } from "../text/json.ts";

/**
 * A rule that a person may want to add after approving a tool call. It covers the same command and options with any
 * operands, the same folder, or the same site. `undefined` when there is nothing to generalise.
 */
export function proposedRule(tool: string, input: unknown): string | undefined {
  if (!isRecord(input)) return undefined;
  const { command, path, url } = input;
  if (typeof command === "string") return commandRule(tool, command);
  if (typeof path === "string" && path !== "") {
    const folder = path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : "";
    return folder === "" ? `${tool}(${path})` : `${tool}(${folder}/**)`;
  }
  return typeof url === "string" && URL.canParse(url) ? `${tool}(${new URL(url).origin}/*)` : undefined;
}

/** Commands whose first argument is a subcommand, such as `git`. */
const SUBCOMMANDS = /^(?:git|npm|pnpm|yarn|cargo|go|docker|kubectl|make|pip|uv|poetry|gh|dotnet|mvn|gradle|deno|bun)$/;

/** Commands whose subcommands have subcommands of their own. */
const NESTED =
  /^(?:gh|glab|aws|gcloud|az)$|^(?:docker|podman) (?:compose|container|image|network|volume|system|buildx)$/;

/** Commands whose first argument is the program that they run. */
const INTERPRETERS = /^(?:python|pypy|node|nodejs|tsx|ts-node|perl|ruby|php|lua|Rscript|julia|java)[\d.]*$/;

/**
 * Keeps the program, its subcommand or script, and every option; other arguments may differ. Lines with operators are
 * never generalised.
 */
function commandRule(tool: string, command: string): string | undefined {
  const line = command.trim();
  if (line === "" || /[\n;&|<>`$(){}*?[\]"'\\#]/.test(line)) return undefined;
  const words = starred(line.split(/\s+/));
  return words && `${tool}(${[...words, "*"].join(" ")})`;
}

/** The words that stay as they are. A star covers nothing behind a program that runs others, except its arguments. */
function starred(words: readonly string[]): readonly string[] | undefined {
  const runner = runnerIn(words.map((text) => ({ text })));
  if (runner?.runs === undefined) {
    const [program = "", ...given] = words;
    const kept = wordsKept(program, given);
    return runner ? undefined : [program, ...given.filter((word, at) => at < kept || word.startsWith("-"))];
  }
  const behind = starred(words.slice(runner.runs));
  return behind && [...words.slice(0, runner.runs), ...behind];
}

/** The number of words after the program that stay as they are. */
function wordsKept(program: string, words: readonly string[]): number {
  if (INTERPRETERS.test(program)) return words.findIndex((word) => !word.startsWith("-")) + 1;
  const isNested = NESTED.test(program) || NESTED.test(`${program} ${words[0]}`);
  if (isNested || (words[0] === "run" && SUBCOMMANDS.test(program))) return 2;
  return SUBCOMMANDS.test(program) ? 1 : 0;
}
