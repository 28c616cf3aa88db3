import type { ContextOptions } from "../../core/plan/context.ts";
import { codeSpan, fence } from "../../core/text/fence.ts";
import { isRecord } from "../../core/text/json.ts";
import { reveal } from "../../core/text/sanitize.ts";
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
  const asked = sectionsOf(options === true ? { branch: true, status: true } : options);
  if (asked.length === 0) return "";
  const top = await topOf(cwd);
  if (top === undefined) return "(not a git repository)";
  const repository = await openRepository(top, place);
  if (!repository.ok) return `(git context left out: ${oneLine(repository.reason)})`;
  const paths = await readablePaths(repository, place.closedIn?.(top).isClosed);
  const sections = await Promise.all(asked.map((section) => section(repository.ask, paths)));
  const shown = sections.filter((section) => section !== "");
  return shown.length === 0 ? "" : ["## Git Context", ...shown].join("\n\n");
}

/** The parts of the git state that are requested. */
export type GitContextOptions = Exclude<ContextOptions["gitContext"], boolean | undefined>;

type Ask = Repository["ask"];
type Section = (ask: Ask, paths: Paths) => Promise<string>;
/** Arguments of git that select the paths that may be shown, or why these paths are not known. */
type Paths = Readonly<{ ok: true; args: readonly string[] }> | Extract<GitAnswer, { ok: false }>;

/**
 * All paths of the repository except changed paths that may not be read. The names come from git and not from the disk,
 * because git also shows the text of a deleted file.
 */
async function readablePaths({ work }: Repository, isClosed?: (path: string) => boolean): Promise<Paths> {
  if (!isClosed) return { ok: true, args: [] };
  const changed = await work(["status", "--porcelain", "-z", "--no-renames", ...STATUS_OPTIONS]);
  if (!changed.ok) return changed;
  const names = changed.text.split("\0").map((line) => line.slice(3).replace(/\/$/, ""));
  const closed = new Set(names.flatMap((name) => closedPart(name, isClosed) ?? []));
  if ([...closed].some((name) => name.includes("\ufffd")))
    return { ok: false, reason: "the name of a file that may not be read is not valid text" };
  if (closed.size === 0) return { ok: true, args: [] };
  return { ok: true, args: [":(top)", ...Array.from(closed, (name) => `:(exclude,top,literal)${name}`)] };
}

/** The shortest part of a path that may not be read. A folder stands for everything in it. */
function closedPart(path: string, isClosed: (path: string) => boolean): string | undefined {
  const steps = path.split("/");
  return steps.map((_, last) => steps.slice(0, last + 1).join("/")).find((part) => part !== "" && isClosed(part));
}

const STATUS_OPTIONS = ["--untracked-files=normal", "--ignore-submodules=all"] as const;

/** The option that enables patterns in these path arguments; without it git takes names literally. */
const magicFor = (paths: readonly string[]): string[] => (paths.length === 0 ? [] : ["--no-literal-pathspecs"]);

function sectionsOf(options: GitContextOptions | false): Section[] {
  if (!isRecord(options)) return [];
  const { branch, status, diff, diffStats, log } = options;
  return [
    branch === true ? branchSection : undefined,
    status === true ? statusSection : undefined,
    diffStats === true ? block("Changed Files", (ask, paths) => diffOf(ask, ["--stat=100"], paths)) : undefined,
    diff === true
      ? block("Git Diff", (ask, paths) => diffOf(ask, ["--src-prefix=a/", "--dst-prefix=b/"], paths), {
          language: "diff",
        })
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

const statusSection = block(
  "Git Status",
  async (ask, paths) =>
    paths.ok ? ask(...magicFor(paths.args), "status", "--porcelain", ...STATUS_OPTIONS, "--", ...paths.args) : paths,
  { empty: "**Git Status:** (clean)" },
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
async function diffOf(ask: Ask, format: readonly string[], paths: Paths): Promise<GitAnswer> {
  if (!paths.ok) return paths;
  const born = await ask("rev-parse", "--quiet", "--verify", "HEAD");
  const against = born.ok ? "HEAD" : "--cached";
  return ask(
    ...magicFor(paths.args),
    "diff",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--ignore-submodules=all",
    "--submodule=short",
    ...format,
    against,
    "--",
    ...paths.args,
  );
}

/** A section with git's output; an empty output is left out, unless a text for that case is given. */
function block(
  title: string,
  question: (ask: Ask, paths: Paths) => Promise<GitAnswer>,
  { language = "", empty = "" } = {},
): Section {
  return async (ask, paths) => {
    const answer = await question(ask, paths);
    if (!answer.ok) return `**${title}:** (left out: ${oneLine(answer.reason)})`;
    const text = withoutPasswords(reveal(answer.text.replace(/\n+$/, "")));
    if (text === "") return empty;
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
