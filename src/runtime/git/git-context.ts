import { relative, sep } from "node:path";
import type { ContextOptions } from "../../core/plan/context.ts";
import { codeSpan, fence } from "../../core/text/fence.ts";
import { isRecord } from "../../core/text/json.ts";
import { reveal } from "../../core/text/sanitize.ts";
import { folderContains } from "../files/folder-contains.ts";
import { type GitAnswer, type GitPlace, openRepository, type Repository, topOf } from "./git.ts";

/**
 * The state of the repository around `cwd` as Markdown. `true` means branch and status. Whatever git cannot report
 * becomes a note in the text, and no program of the repository is run. Returns a promise, although the function of this
 * name in pi-parallel-agents is synchronous.
 */
export async function getGitContext(
  options: boolean | GitContextOptions,
  cwd = ".",
  place: GitPlace = {},
): Promise<string> {
  const top = await topOf(cwd);
  const without = pathsWithout(top, place.hidden);
  const asked = sectionsOf(options === true ? { branch: true, status: true } : options, without);
  if (asked.length === 0) return "";
  if (top === undefined) return "(not a git repository)";
  const repository = await openRepository(top, place);
  if (!repository.ok) return `(git context left out: ${oneLine(repository.reason)})`;
  const sections = await Promise.all(asked.map((section) => section(repository.ask)));
  return ["## Git Context", ...sections].join("\n\n");
}

/** The parts of the git state that are requested. */
export type GitContextOptions = Exclude<ContextOptions["gitContext"], boolean | undefined>;

type Ask = Repository["ask"];
type Section = (ask: Ask) => Promise<string>;

/** Arguments of git for all paths of the repository except these. */
function pathsWithout(top: string | undefined, hidden: readonly string[] = []): string[] {
  const inside = top === undefined ? [] : hidden.filter((path) => path !== top && folderContains(top, path));
  if (inside.length === 0) return [];
  return [":(top)", ...inside.map((path) => `:(exclude,top,literal)${relative(top!, path).split(sep).join("/")}`)];
}

/** The option that enables patterns in these path arguments; without it git takes names literally. */
const magicFor = (paths: readonly string[]): string[] => (paths.length === 0 ? [] : ["--no-literal-pathspecs"]);

function sectionsOf(options: GitContextOptions | false, paths: readonly string[]): Section[] {
  if (!isRecord(options)) return [];
  const { branch, status, diff, diffStats, log } = options;
  return [
    branch === true ? branchSection : undefined,
    status === true ? statusSection(paths) : undefined,
    diffStats === true ? block("Diff Stats", (ask) => diffOf(ask, ["--stat=100"], paths)) : undefined,
    diff === true
      ? block("Git Diff", (ask) => diffOf(ask, ["--src-prefix=a/", "--dst-prefix=b/"], paths), "diff")
      : undefined,
    logSection(log ?? 0),
  ].filter((section) => section !== undefined);
}

const branchSection: Section = async (ask) => {
  const branch = await ask("symbolic-ref", "--quiet", "--short", "HEAD");
  if (branch.ok) return `**Branch:** ${nameOf(branch.text)}`;
  const commit = await ask("rev-parse", "--short", "--verify", "HEAD");
  return `**Branch:** ${commit.ok ? `(detached at ${commit.text.trim()})` : "(unknown)"}`;
};

const statusSection = (paths: readonly string[]): Section =>
  block("Git Status", (ask) =>
    ask(
      ...magicFor(paths),
      "status",
      "--porcelain",
      "--untracked-files=normal",
      "--ignore-submodules=all",
      "--",
      ...paths,
    ),
  );

function logSection(count: number | boolean): Section | undefined {
  if (count === false || count === 0) return undefined;
  const most = count === true ? USUAL_COMMITS : count;
  if (!Number.isInteger(most) || most < 0 || most > MOST_COMMITS) {
    return async () => `**Recent Commits:** (left out: log has to be a whole number up to ${MOST_COMMITS})`;
  }
  return block("Recent Commits", (ask) =>
    ask(
      "log",
      `--max-count=${most}`,
      "--format=%h %s",
      "--no-show-signature",
      "--no-notes",
      "--no-color",
      "HEAD",
      "--",
    ),
  );
}

const USUAL_COMMITS = 10;
const MOST_COMMITS = 1_000;

/** The diff of work tree and index against the last commit; before the first commit, the diff of the index. */
async function diffOf(ask: Ask, format: readonly string[], paths: readonly string[]): Promise<GitAnswer> {
  const born = await ask("rev-parse", "--quiet", "--verify", "HEAD");
  const against = born.ok ? "HEAD" : "--cached";
  return ask(
    ...magicFor(paths),
    "diff",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--ignore-submodules=all",
    "--submodule=short",
    ...format,
    against,
    "--",
    ...paths,
  );
}

function block(title: string, question: (ask: Ask) => Promise<GitAnswer>, language = ""): Section {
  return async (ask) => {
    const answer = await question(ask);
    if (!answer.ok) return `**${title}:** (left out: ${oneLine(answer.reason)})`;
    const text = withoutPasswords(reveal(answer.text.replace(/\n+$/, "")));
    if (text === "") return `**${title}:** (no changes)`;
    return `**${title}:**\n${fence(text, language)}${answer.cut ? "\n(cut: there is more)" : ""}`;
  };
}

/** The name of a branch or file: plain names are kept, a name that could be read as markup is put in a code span. */
function nameOf(text: string): string {
  const name = oneLine(text);
  return /^[\w./@+#-]+$/.test(name) ? name : codeSpan(name);
}

const oneLine = (text: string): string => withoutPasswords(reveal(text.trim()).replace(/\s+/g, " "));

/** Masks user and password in all addresses of a text. */
const withoutPasswords = (text: string): string => text.replace(/:\/\/[^\s/@]{1,256}@/g, "://***@");
