import { join, resolve } from "node:path";
import { Option } from "commander";
import type { Changes } from "../../core/outcome/worktree-changes.ts";
import { protectedPart } from "../../core/policy/protected-paths.ts";
import { nodeAt } from "../../core/plan/graph.ts";
import type { State } from "../../core/run/state.ts";
import { CrewError } from "../../core/schema/error.ts";
import { suggestion } from "../../core/plan/check.ts";
import { jsonText } from "../../core/text/json-text.ts";
import { shellWord } from "../../core/text/shell-word.ts";
import { counted, terminalLine } from "../../core/view/words.ts";
import type { CliCommand } from "../base/command.ts";
import { jsonOption } from "../base/flags.ts";

/** The command `subcrew apply RUN/TASK [FILE...]`. */
export const apply: CliCommand = {
  description:
    "Applies changes of a task in a worktree that were kept as a patch: all files that do not conflict, or only the files named. A file that conflicts is left as it is, and the paths of its two versions are printed. Protected files are applied only if they are named.",
  words: "[run] [files...]",
  usage: "RUN[/TASK] [FILE...]",
  options: [
    new Option(
      "--cwd <folder>",
      "the folder of the repository to apply the changes to (default: the one the run worked in)",
    ).helpGroup("The run:"),
    jsonOption(),
  ],
  examples: [
    ["subcrew apply run_4k2x/build", "every file that does not conflict"],
    ["subcrew apply run_4k2x/build src/a.ts", "only this file"],
  ],
  act: async ([word, ...names], flags) => {
    const [{ findRun }, { applyKept }, { attemptPath }, { versionBeside }, { localPlaces }] = await Promise.all([
      import("../runs/find-run.ts"),
      import("../../runtime/git/apply-kept.ts"),
      import("../../core/plan/isolation.ts"),
      import("../../runtime/git/apply-changes.ts"),
      import("../../runtime/access/local-places.ts"),
    ]);
    const { crew, run, path: named } = await findRun(word);
    const { path, changes, attempt } = keptIn(run.state, named);
    const node = run.state.plan && nodeAt(run.state.plan, path);
    const worked = resolve(run.state.cwd, (node?.kind === "task" ? node.task.cwd : undefined) ?? ".");
    const cwd = flags.cwd === undefined ? worked : resolve(flags.cwd);
    const files = names.length === 0 ? changes.files : names.map((name) => fileNamed(name, changes));
    const patch =
      (await crew.kept.file(run.id, attemptPath({ path, attempt }), {
        kind: "patch",
        hash: changes.patch.hash,
      })) ?? "";
    const home = process.env["HOME"];
    const leave = (repository: string): ((file: string) => string | undefined) => {
      const local = localPlaces(repository, { home, env: process.env });
      return (file) =>
        protectedPart(file, local) === undefined ? undefined : "it is executed or loaded as configuration later";
    };
    const done = await applyKept(patch, files, { cwd, home, ...(names.length === 0 && { leave }) });
    if ("unable" in done)
      throw new CrewError(
        "BAD_FILE",
        `The changes of "${path}" cannot be applied: ${done.unable}.`,
        "Give a folder inside of the repository with --cwd.",
      );
    const { applied, already, conflicts, into, left } = done;
    const conflicting = Object.keys(conflicts).map((file) => ({
      file,
      why: conflicts[file]!,
      workspace: join(into, file),
      ...(changes.versions?.[file] && { task: versionBeside(patch, file) }),
    }));
    if (flags.json) process.stdout.write(`${jsonText({ applied, already, conflicts: conflicting, left })}\n`);
    else {
      for (const file of applied) process.stdout.write(`applied   ${terminalLine(file)}\n`);
      for (const file of already) process.stdout.write(`already there  ${terminalLine(file)}\n`);
      for (const one of conflicting) process.stdout.write(conflictLines(one, patch));
      for (const [file, why] of Object.entries(left)) process.stdout.write(`left out  ${terminalLine(file)}: ${why}\n`);
    }
    const unasked = Object.keys(left);
    if (!flags.json && unasked.length > 0)
      process.stderr.write(
        `${counted(unasked.length, "file")} of ${files.length} must be named. Look at them, then: subcrew apply ${shellWord(`${run.id}/${path}`)} ${unasked.map(shellWord).join(" ")}\n`,
      );
    if (conflicting.length === 0) return unasked.length === 0 ? 0 : 1;
    if (!flags.json)
      process.stderr.write(
        `${counted(conflicting.length, "file")} of ${files.length} conflicted with the workspace and were not changed.\n`,
      );
    return 1;
  },
};

type Conflict = Readonly<{ file: string; why: string; workspace: string; task?: string }>;

/** Both versions of a conflicting file, and the commands to compare them and to take the task's version. */
function conflictLines({ file, why, workspace, task }: Conflict, patch: string): string {
  const lines =
    task === undefined
      ? [`the task deleted the file, or its version is only in ${patch}`]
      : [
          `compare:   git diff --no-index ${shellWord(workspace)} ${shellWord(task)}`,
          `the task's: cp ${shellWord(task)} ${shellWord(workspace)}`,
        ];
  return [
    `conflict  ${terminalLine(file)}: ${terminalLine(why)}`,
    ...lines.map((line) => `          ${line}`),
    "",
  ].join("\n");
}

type KeptChanges = Readonly<{ path: string; changes: Changes; attempt: number }>;

/** The task whose changes were kept as a patch: the given task, or the only task with a patch. */
function keptIn({ run, nodes }: State, named: string | undefined): KeptChanges {
  const all = [...nodes.values()].flatMap(({ path, outcome, attempt }) =>
    outcome?.changes ? [{ path, changes: outcome.changes, attempt }] : [],
  );
  const kept = all.filter(({ changes }) => !changes.applied);
  const found = named === undefined && kept.length > 0 ? kept : all.filter(({ path }) => path === (named ?? path));
  const [only] = found;
  if (only && found.length === 1 && !only.changes.applied) return only;
  if (only && found.every(({ changes }) => changes.applied)) {
    const [whose, when] =
      found.length === 1
        ? [`${run}/${only.path}`, "when the task ended"]
        : [run, `when its ${found.length} tasks ended`];
    throw new CrewError(
      "BAD_INPUT",
      `The changes of "${whose}" were applied ${when}.`,
      `\`subcrew diff ${shellWord(whose)}\` shows them, and \`subcrew undo ${shellWord(whose)}\` restores the files.`,
    );
  }
  const hint =
    kept.length === 0
      ? "A task leaves a patch only if it has `isolation: worktree` and changed files."
      : `Name one task: ${kept.map(({ path }) => `subcrew apply ${shellWord(`${run}/${path}`)}`).join(", ")}.`;
  throw new CrewError(
    "BAD_INPUT",
    found.length > 1
      ? `"${run}" has stored changes of ${found.length} tasks.`
      : named === undefined
        ? `"${run}" has no stored changes to apply.`
        : `"${run}/${named}" has no stored changes.`,
    hint,
  );
}

/**
 * The file of the patch that a name given by the user refers to: relative to the repository, or to the current folder.
 */
function fileNamed(name: string, { files }: Changes): string {
  const here = resolve(name);
  const found = files.find((file) => file === name) ?? files.find((file) => here.endsWith(`/${file}`));
  if (found !== undefined) return found;
  throw new CrewError(
    "BAD_INPUT",
    `The task did not change "${name}".`,
    suggestion(name, files, "Files that the task changed"),
  );
}
