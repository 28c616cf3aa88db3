import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Outcome } from "../../../../src/core/outcome/outcome.ts";
import type { Event } from "../../../../src/index.ts";
import type { Script } from "../../../../src/models/scripted/scripted.ts";
import { shell } from "../../../support/repository.ts";
import { tempFolder } from "../../../support/temp-folder.ts";
import { until } from "../../../support/until.ts";
import { command } from "../../command.ts";
import { alone, project, runs, state, text, warnings, waits, write } from "./lab.ts";

/** Runs a suggested command line with the built command; a remaining conflict is exit code 1. */
const built = (cwd: string, home: string, advice: string): string =>
  shell(cwd, `SUBCREW_HOME='${home}' ${advice.replace("subcrew", `node '${command}'`)} || [ $? -eq 1 ]`);

describe("a task in its own worktree", () => {
  test("does not change the checkout while it works, and its changes are applied at once", async () => {
    const cwd = project();
    const before = state(cwd);
    let during = "";
    const turns = { worker: [write("a.txt", "two\n"), write("new/b.txt", "b\n"), "done"] };
    const { result, events, home } = await runs(cwd, turns, alone("worker"), {
      tools: [
        {
          name: "look",
          description: "",
          input: { type: "object" },
          effect: "read",
          run: (_input, context) => {
            during = `${context.cwd} ${text(cwd, "a.txt")}${text(context.cwd, "a.txt")}`;
            return "looked";
          },
        },
      ],
      models: {
        worker: (await import("../../../../src/models/scripted/scripted.ts")).scripted(
          write("a.txt", "two\n"),
          { calls: [{ name: "look", input: {} }] },
          write("new/b.txt", "b\n"),
          "done",
        ),
      },
    });
    expect(during).toMatch(/\/worktrees\/run_\w+-\w+ one\ntwo\n$/);
    expect(result).toMatchObject({ status: "ok", output: "done" });
    expect([text(cwd, "a.txt"), text(cwd, "new/b.txt")]).toEqual(["two\n", "b\n"]);
    const { changes } = result.nodes["worker"]!;
    expect(changes).toMatchObject({ applied: true, files: ["a.txt", "new/b.txt"] });
    expect(text(home, join("runs", result.id, "outputs", "worker.patch"))).toContain("+two");
    expect(events).toContainEqual(
      expect.objectContaining({ type: "note", text: expect.stringContaining("were applied") }),
    );
    shell(cwd, "git checkout -q a.txt && rm -r new");
    expect(state(cwd)).toBe(before);
    expect(readdirSync(join(home, "runs", result.id))).not.toContain("worktrees");
  });

  test("brings back binary files, modes, links, deletions and moved files", async () => {
    const cwd = project("printf 'a\\000b' > pic.bin && git add . && git commit -qm bin");
    const script =
      "printf 'x\\000y\\001' > pic.bin; printf 'n\\000' > new.bin; chmod +x run.sh; rm a.txt; git mv src/list.txt src/moved.txt 2>/dev/null || mv src/list.txt src/moved.txt; ln -s pic.bin link; printf 'no end' > end";
    const { result } = await runs(
      cwd,
      { worker: [{ calls: [{ name: "bash", input: { command: script } }] }, "done"] },
      alone("worker"),
      { permissions: { mode: "bypass", sandbox: "off" } },
    );
    expect(result.nodes["worker"]!.changes).toMatchObject({ applied: true });
    expect(text(cwd, "pic.bin")).toBe("x\0y\x01");
    expect(text(cwd, "new.bin")).toBe("n\0");
    expect(statSync(join(cwd, "run.sh")).mode & 0o111).not.toBe(0);
    expect([existsSync(join(cwd, "a.txt")), existsSync(join(cwd, "src/list.txt"))]).toEqual([false, false]);
    expect(text(cwd, "src/moved.txt")).toContain("30\n");
    expect(text(cwd, "link")).toBe("x\0y\x01");
    expect(text(cwd, "end")).toBe("no end");
  });

  test("starts from the last commit, or on request from the uncommitted files", async () => {
    const dirty = "echo edited > a.txt && echo new > untracked.txt && rm run.sh && git add a.txt";
    const look = {
      calls: [
        { name: "list_files", input: { path: "." } },
        { name: "read_file", input: { path: "a.txt" } },
      ],
    };
    const seen = async (more: object): Promise<string> => {
      const cwd = project(dirty);
      const before = state(cwd);
      const { events, result } = await runs(
        cwd,
        { worker: [look, write("src/own.txt", "own\n"), "done"] },
        alone("worker", more),
      );
      expect(result.nodes["worker"]!.changes).toMatchObject({ applied: true, files: ["src/own.txt"] });
      shell(cwd, "rm src/own.txt");
      expect(state(cwd)).toBe(before);
      return events
        .flatMap((event) => (event.type === "tool.ended" && event.tool !== "write_file" ? [event.text] : []))
        .join("\n");
    };
    const [clean, all] = [await seen({}), await seen({ isolationDirty: true })];
    expect([clean.includes("untracked.txt"), clean.includes("run.sh"), clean.includes("edited")]).toEqual([
      false,
      true,
      false,
    ]);
    expect([all.includes("untracked.txt"), all.includes("run.sh"), all.includes("edited")]).toEqual([
      true,
      false,
      true,
    ]);
  });

  test("stores its changes as a patch on request, and reports where it is and how to apply it", async () => {
    const cwd = project();
    const { result, events, home } = await runs(
      cwd,
      { worker: [write("a.txt", "two\n"), "done"] },
      alone("worker", { isolationKeep: true }),
    );
    const { applied } = result.nodes["worker"]!.changes!;
    const patch = join(home, "runs", result.id, "outputs", "worker.patch");
    expect([applied, text(cwd, "a.txt")]).toEqual([false, "one\n"]);
    const [warning] = warnings(events);
    expect(warning).toMatch(/^CHANGES_KEPT: .*"worker" to 1 file \(a\.txt\) were not applied: as requested/);
    built(cwd, home, warning!.slice(warning!.indexOf("subcrew apply")));
    expect([text(cwd, "a.txt"), existsSync(patch)]).toEqual(["two\n", true]);
  });

  test("stores its changes when it fails or edits are not allowed, and asks if a person is available", async () => {
    const edit = (then: string | object) => ({ worker: [write("a.txt", "two\n"), then] }) as Parameters<typeof runs>[1];
    const fails = await runs(project(), edit(""), alone("worker"));
    expect(fails.result.status).toBe("failed");
    expect(warnings(fails.events).at(-1)).toContain("the task did not succeed");

    const permissions = { mode: "default" as const };
    const headless = await runs(project(), edit("done"), alone("worker"), {
      permissions: { mode: "default", allow: ["write_file(a.txt)"], ask: ["delete_file"] },
    });
    expect(headless.result.nodes["worker"]!.changes).toMatchObject({ applied: true });

    for (const approve of [true, false]) {
      const cwd = project();
      const { questions, result } = await runs(cwd, edit("done"), alone("worker"), {
        permissions,
        answer: (q) => ({ approve: q.includes("write_file") || approve }),
      });
      expect(questions.at(-1)).toMatch(
        /changed 1 file \(a\.txt\) in its worktree:\n {2}M a\.txt\nApply these changes to /,
      );
      expect([result.nodes["worker"]!.changes!.applied, text(cwd, "a.txt")]).toEqual([
        approve,
        approve ? "two\n" : "one\n",
      ]);
    }
  });

  test("never applies changes that the policy forbids", async () => {
    const cwd = project();
    const command = "mkdir -p .vscode && cp a.txt .vscode/tasks.json && echo two > a.txt";
    const { result, events } = await runs(
      cwd,
      { worker: [{ calls: [{ name: "bash", input: { command } }] }, "done"] },
      alone("worker"),
      {
        permissions: { mode: "bypass", sandbox: "off" },
      },
    );
    expect(result.nodes["worker"]!.changes).toMatchObject({ applied: false });
    expect(warnings(events).at(-1)).toContain("protected .vscode");
    expect([text(cwd, "a.txt"), existsSync(join(cwd, ".vscode"))]).toEqual(["one\n", false]);
  });

  test("reports ignored files, and keeps files of submodules and nested repositories outside of the workspace", async () => {
    const sub = project();
    const cwd = project(
      "echo 'dist/' > .gitignore",
      `git -c protocol.file.allow=always submodule --quiet add ${sub} lib`,
      `git -c protocol.file.allow=always submodule --quiet add ${sub} 'more/old lib'`,
      "git add . && git commit -qm sub",
    );
    const command =
      "mkdir -p dist inner && echo x > dist/x && git init -q inner && echo y > inner/y && git -C inner -c user.name=A -c user.email=a@b.c commit -q --allow-empty -m x; mkdir lib/d; echo z > lib/d/z; rm -rf more; echo two > a.txt";
    const { result, events } = await runs(
      cwd,
      { worker: [{ calls: [{ name: "bash", input: { command } }] }, "done"] },
      alone("worker"),
      {
        permissions: { mode: "bypass", sandbox: "off" },
      },
    );
    expect(result.nodes["worker"]!.changes).toMatchObject({ applied: true, files: ["a.txt"] });
    const [ignored, kept, gone] = warnings(events).filter((each) => each.startsWith("CHANGES_LEFT"));
    expect([ignored, gone]).toEqual([
      expect.stringMatching(/ignores.*: dist\/\.$/),
      expect.stringContaining("more/old lib"),
    ]);
    expect(kept).toMatch(/submodules.*: inner, lib\. They are in /);
    expect([existsSync(join(cwd, "lib/a.txt")), existsSync(join(cwd, "dist"))]).toEqual([true, false]);
    shell(cwd, /copy them with: (.*)$/.exec(kept!)![1]!);
    expect([text(cwd, "lib/d/z"), text(cwd, "inner/y"), text(cwd, "lib/a.txt")]).toEqual(["z\n", "y\n", "one\n"]);
  });

  test("is refused where there is no repository, and before the first commit", async () => {
    const { repository } = await import("../../../support/repository.ts");
    for (const [cwd, why] of [
      [tempFolder(), "is not in a git repository"],
      [repository(), "the repository has no commit yet"],
    ] as const) {
      const { result } = await runs(cwd, { worker: ["never"] }, alone("worker"));
      expect(result.fault).toMatchObject({ code: "UNSUPPORTED", message: expect.stringContaining(why) });
    }
  });

  test("runs no git filter that is defined in a conditional configuration (includeIf) or in a submodule", async () => {
    const marker = join(tempFolder(), "ran");
    const filter = `[filter "x"]\\n\\tclean = touch ${marker}; cat\\n\\tsmudge = touch ${marker}; cat\\n`;
    const conditional = project(
      `printf '${filter}' > .git/hidden && echo '*.txt filter=x' > .git/info/attributes`,
      "git config 'includeIf.gitdir:**/worktrees/**.path' hidden",
    );
    const refused = await runs(conditional, { worker: [write("a.txt", "two\n"), "done"] }, alone("worker"));
    expect(refused.result).toMatchObject({ status: "failed", fault: { code: "UNSUPPORTED" } });
    expect(existsSync(marker)).toBe(false);

    const sub = project();
    const cwd = project(
      `git -c protocol.file.allow=always submodule --quiet add ${sub} lib && git commit -qm sub`,
      `echo '*.txt filter=x' > lib/.gitattributes && echo two > lib/a.txt`,
      `printf '${filter}' >> .git/modules/lib/config`,
    );
    const dirty = alone("worker", { isolationDirty: true });
    const { result } = await runs(cwd, { worker: [write("b.txt", "b\n"), "done"] }, dirty);
    expect(result.nodes["worker"]!.changes).toMatchObject({ applied: true, files: ["b.txt"] });
    expect(existsSync(marker)).toBe(false);
    shell(cwd, "git add --all");
    expect(existsSync(marker)).toBe(true); // without the protection the filter runs
  });

  test("runs no hook and no filter of the repository", async () => {
    const marker = join(tempFolder(), "ran");
    const cwd = project(
      `printf '#!/bin/sh\\ntouch ${marker}\\n' > .git/hooks/post-checkout && chmod +x .git/hooks/post-checkout`,
      `git config filter.x.clean 'touch ${marker}; cat' && git config filter.x.smudge 'touch ${marker}; cat'`,
      "echo '*.txt filter=x' > .git/info/attributes",
    );
    const { result } = await runs(cwd, { worker: [write("a.txt", "two\n"), "done"] }, alone("worker"));
    expect([result.nodes["worker"]!.changes?.applied, existsSync(marker)]).toEqual([true, false]);
  });
});

describe("several tasks in worktrees", () => {
  test("that change the same lines: the first is applied, the other stored, file by file, and nothing is overwritten", async () => {
    const cwd = project();
    let wrote = 0;
    // Both tasks have their worktrees before one of them ends; otherwise the second would begin with the first one's
    // changes.
    const together: Script = () => ((wrote += 1), until(() => wrote === 2).then(() => "done"));
    const turns = {
      first: [write("a.txt", "first\n"), write("f.txt", "f\n"), together],
      second: [write("a.txt", "second\n"), write("s.txt", "s\n"), together],
    };
    const tasks = [
      { agent: "first", task: "Go.", name: "one" },
      { agent: "second", task: "Go.", name: "two", isolationDirty: true },
    ];
    const { result, events, home } = await runs(cwd, turns, { mode: "parallel", tasks, isolation: "worktree" });
    const all = ["one", "two"].map((name) => result.nodes[name]!.changes!);
    const [winner, loser] = all[0]!.applied ? ["one", "two"] : ["two", "one"];
    expect(all.filter(({ applied }) => applied)).toHaveLength(1);
    expect(result.nodes[loser]!.changes!.conflicts).toEqual(["a.txt"]);
    expect(warnings(events)).toEqual([]);
    expect([result.status, result.fault?.code]).toEqual(["failed", "SOME_FAILED"]);
    const { fault } = result.nodes[loser] as Extract<Outcome, { status: "failed" }>;
    expect(fault).toMatchObject({
      code: "CONFLICT",
      message: expect.stringContaining(`a.txt: "${winner}" changed the same file`),
    });
    expect(text(home, join("runs", result.id, "outputs", `${loser}.conflict`, "a.txt"))).toBe(
      loser === "one" ? "first\n" : "second\n",
    );
    // The suggested command works as printed: it applies the files without conflicts.
    built(cwd, home, /with: (subcrew apply .*?)\. Compare/.exec(fault.hint!)![1]!);
    expect(existsSync(join(cwd, loser === "one" ? "f.txt" : "s.txt"))).toBe(true);
    expect(text(cwd, "a.txt")).toBe(winner === "one" ? "first\n" : "second\n");
  });

  test("that change different lines of one file are both applied", async () => {
    const cwd = project();
    const edit = (from: string, to: string) => ({
      calls: [{ name: "edit_file", input: { path: "src/list.txt", oldText: from, newText: to } }],
    });
    const read = { calls: [{ name: "read_file", input: { path: "src/list.txt" } }] };
    const turns = {
      top: [read, edit("2\n3\n", "two\n3\n"), "done"],
      end: [read, edit("28\n29\n", "28\ntwenty-nine\n"), "done"],
    };
    const tasks = [
      { agent: "top", task: "Go." },
      { agent: "end", task: "Go." },
    ];
    const { result, events } = await runs(cwd, turns, { mode: "parallel", tasks, isolation: "worktree" });
    expect([result.status, warnings(events)]).toEqual(["ok", []]);
    expect(text(cwd, "src/list.txt")).toMatch(/^1\ntwo\n[\s\S]*28\ntwenty-nine\n30\n$/);
  });

  test("never overwrite a person's changes", async () => {
    const cwd = project();
    const { result } = await runs(
      cwd,
      { worker: [write("mine.txt", "agent\n"), { calls: [{ name: "meddle", input: {} }] }, "done"] },
      alone("worker"),
      {
        tools: [
          {
            name: "meddle",
            description: "",
            input: { type: "object" },
            effect: "read",
            run: () => shell(cwd, "echo person > mine.txt"),
          },
        ],
      },
    );
    expect(result.nodes["worker"]!.changes).toMatchObject({ applied: false, conflicts: ["mine.txt"] });
    expect(text(cwd, "mine.txt")).toBe("person\n");
  });

  test("in a race change the workspace only if they win", async () => {
    for (let time = 0; time < 3; time += 1) {
      const cwd = project();
      const turns = {
        left: [write("left.txt", "left\n"), "left is done"],
        right: [write("right.txt", "right\n"), "right is done"],
      };
      const race = { task: "Go.", agents: ["left", "right"], isolation: "worktree" };
      const { result } = await runs(cwd, turns, { mode: "race", race });
      const [winner] = result.from!;
      expect(result).toMatchObject({ status: "ok", output: `${winner} is done` });
      expect([existsSync(join(cwd, "left.txt")), existsSync(join(cwd, "right.txt"))]).toEqual([
        winner === "left",
        winner === "right",
      ]);
      expect(result.nodes[winner!]!.changes).toMatchObject({ applied: true });
    }
  });

  test("a task whose changes conflict with the workspace loses the race, and the next contender wins", async () => {
    const cwd = project();
    let lose: () => void = () => {};
    const lost = new Promise<void>((resolve) => (lose = resolve));
    const meddle = {
      name: "meddle",
      description: "",
      input: { type: "object" as const },
      effect: "read" as const,
      run: () => shell(cwd, "echo person > mine.txt"),
    };
    const turns = {
      left: [write("mine.txt", "left\n"), { calls: [{ name: "meddle", input: {} }] }, "left is done"],
      right: [write("right.txt", "right\n"), () => lost.then(() => "right is done")],
    };
    const race = { task: "Go.", agents: ["left", "right"], isolation: "worktree" };
    const heard = ({ type, path }: Event): unknown => type === "node.ended" && path === "left" && lose();
    const { result } = await runs(cwd, turns, { mode: "race", race }, { tools: [meddle], heard });
    expect(result).toMatchObject({ status: "ok", from: ["right"] });
    expect(result.nodes["left"]).toMatchObject({ status: "failed", fault: { code: "CONFLICT" } });
    expect([text(cwd, "mine.txt"), text(cwd, "right.txt")]).toEqual(["person\n", "right\n"]);
  });

  test("that depend on a task whose changes conflict are skipped", async () => {
    const cwd = project();
    const turns = {
      first: [write("a.txt", "first\n"), "done"],
      second: [write("a.txt", "second\n"), () => until(() => text(cwd, "a.txt") === "first\n").then(() => "done")],
      third: ["never"],
    };
    const tasks = [
      { agent: "first", task: "Go.", name: "one" },
      { agent: "second", task: "Go.", name: "two" },
      { agent: "third", task: "After {task:two}", name: "three" },
    ];
    const { result } = await runs(cwd, turns, { mode: "parallel", tasks, isolation: "worktree" });
    expect(result.nodes["two"]).toMatchObject({ status: "failed", fault: { code: "CONFLICT" } });
    expect(result.nodes["three"]).toEqual({ status: "skipped", because: "two" });
  });
});

describe("loops that compete in a join", () => {
  const loop = (name: string): object => ({
    kind: "loop",
    body: {
      nodes: {
        work: {
          kind: "task",
          task: { agent: name, prompt: "Go.", isolation: "worktree", revise: "Again: {feedback}" },
        },
        review: { kind: "task", needs: ["work"], task: { agent: `${name}-review`, prompt: "Good? {work}" } },
      },
      output: "work",
    },
    until: "review",
    max: 3,
  });
  const plan = (names: readonly string[], count = 1): object => ({
    mode: "plan",
    plan: {
      nodes: {
        ...Object.fromEntries(names.map((name) => [name, loop(name)])),
        winner: { kind: "join", needs: names, pick: "first", count },
      },
      output: "winner",
    },
  });

  test("apply the changes of their rounds only if they win", async () => {
    const cwd = project();
    let reviewed: () => void = () => {};
    const first = new Promise<void>((resolve) => (reviewed = resolve));
    const turns = {
      left: [write("left.txt", "left\n"), "left is done", () => (reviewed(), waits)],
      "left-review": ["REVISION_NEEDED"],
      right: [write("right.txt", "right\n"), "right is done"],
      "right-review": [() => first.then(() => "APPROVED")],
    };
    const heard = ({ type, path }: Event): unknown => type === "node.ended" && path === "left" && reviewed();
    const { result, events } = await runs(cwd, turns, plan(["left", "right"]), { heard });
    expect(events.filter((event) => event.type === "node.ended" && event.outcome.status === "failed")).toEqual([]);
    expect(result).toMatchObject({ status: "ok", output: "right is done", from: ["right"] });
    expect(result.nodes["right"]).toMatchObject({ changes: { applied: true, files: ["right.txt"] } });
    expect([existsSync(join(cwd, "left.txt")), text(cwd, "right.txt")]).toEqual([false, "right\n"]);
    expect(shell(cwd, "git worktree list | wc -l").trim()).toBe("1");
  });

  test("pass the changes of a round to its review and to the next round", async () => {
    const cwd = project();
    const look = { calls: [{ name: "read_file", input: { path: "new.txt" } }] };
    const edit = { calls: [{ name: "edit_file", input: { path: "new.txt", oldText: "one", newText: "two" } }] };
    const seen: boolean[] = [];
    const say =
      (verdict: string, wanted: string): Script =>
      ({ messages }) => {
        seen.push(JSON.stringify(messages.at(-1)).includes(wanted), existsSync(join(cwd, "new.txt")));
        return verdict;
      };
    const turns = {
      left: [write("new.txt", "one\n"), "first", look, edit, "second"],
      "left-review": [look, say("REVISION_NEEDED", "one"), look, say("APPROVED", "two")],
    };
    const { result } = await runs(cwd, turns, plan(["left"]));
    expect(result).toMatchObject({ status: "ok", output: "second" });
    expect(seen).toEqual([true, false, true, false]);
    expect(text(cwd, "new.txt")).toBe("two\n");
  });

  test("a single loop, which competes with none, also revises the changes of its previous round", async () => {
    const cwd = project();
    const edit = { calls: [{ name: "edit_file", input: { path: "new.txt", oldText: "one", newText: "two" } }] };
    const look = { calls: [{ name: "read_file", input: { path: "new.txt" } }] };
    const turns = {
      left: [write("new.txt", "one\n"), "first", look, edit, "second"],
      "left-review": ["REVISION_NEEDED", "APPROVED"],
    };
    const { result } = await runs(cwd, turns, {
      mode: "plan",
      plan: { nodes: { left: loop("left") }, output: "left" },
    });
    expect(result).toMatchObject({ status: "ok", output: "second" });
    expect(text(cwd, "new.txt")).toBe("two\n");
  });

  test("when two of three contenders win, only their changes are applied", async () => {
    const cwd = project();
    const turns = Object.fromEntries(
      ["one", "two", "three"].flatMap((name) => [
        [name, [write(`${name}.txt`, "x\n"), `${name} is done`]],
        [`${name}-review`, ["APPROVED"]],
      ]),
    );
    const { result } = await runs(cwd, turns, plan(["one", "two", "three"], 2));
    const winners = [...result.from!].sort();
    expect(winners).toHaveLength(2);
    expect(["one", "three", "two"].filter((name) => existsSync(join(cwd, `${name}.txt`)))).toEqual(winners);
  });
});
