import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join, relative } from "node:path";
import { expect, test, vi } from "vitest";
import { repository } from "../../../test/support/repository.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { openRepository } from "./git.ts";

async function ask(folder: string, ...args: readonly string[]): Promise<string> {
  const opened = await openRepository(folder);
  if (!opened.ok) return opened.reason;
  const answer = await opened.ask(...args);
  return answer.ok ? answer.text : answer.reason;
}

test("a git command returns its output", async () => {
  expect(await ask(repository(), "symbolic-ref", "HEAD")).toBe("refs/heads/main\n");
});

test("variables of the calling process do not reach git", async () => {
  const [folder, other] = [repository(), repository("git checkout -q -b other")];
  vi.stubEnv("GIT_DIR", join(other, ".git"));
  vi.stubEnv("GIT_CONFIG_PARAMETERS", "'core.quotePath'='maybe'");
  try {
    expect(await ask(folder, "symbolic-ref", "HEAD")).toBe("refs/heads/main\n");
    expect(await ask(folder, "config", "core.quotePath")).toBe("true\n");
  } finally {
    vi.unstubAllEnvs();
  }
});

test("an error is reported in one line, without git's own prefix", async () => {
  expect(await ask(repository(), "rev-parse", "--verify", "nothing")).toBe("Needed a single revision");
  expect(await ask(tempFolder(), "status")).toMatch(/^not a git repository/);
});

test("a configuration with endless filters is refused", async () => {
  const folder = repository();
  appendFileSync(
    join(folder, ".git/config"),
    Array.from({ length: 300 }, (_, i) => `[filter "f${i}"]\n\tclean = false\n`).join(""),
  );
  expect(await ask(folder, "status")).toBe("the git configuration is too large");
});

test("a conditional configuration (includeIf) is refused, unless it is the user's own", async () => {
  const folder = repository();
  const condition = '[includeIf "gitdir:**/worktrees/**"]\n\tpath = hidden\n';
  const home = tempFolder({ ".gitconfig": condition });
  const opened = await openRepository(folder, { home });
  expect(opened.ok).toBe(true);
  appendFileSync(join(folder, ".git/config"), condition);
  expect(await ask(folder, "status")).toMatch(/different values in different places/);
});

test.skipIf(!existsSync("/proc/self/task"))(
  "a named pipe in place of a git file is reported after some seconds",
  async () => {
    const home = tempFolder();
    execFileSync("mkfifo", [join(home, ".gitconfig")]);
    const folder = repository();
    execFileSync("mkfifo", [join(folder, ".gitignore")]);
    const waiting = { ok: false, reason: "git is blocked, because one of the files that it reads is a named pipe" };
    const opened = await openRepository(folder);
    const [configuration, ignored] = await Promise.all([
      openRepository(repository(), { home, isPatient: true }),
      opened.ok && opened.work(["add", "--all", "--", "."]),
    ]);
    expect([configuration, ignored]).toEqual([waiting, waiting]);
  },
  30_000,
);

test("an endless file in place of one of git's files is refused at once", async () => {
  const zero = (name: string): string => {
    const folder = repository();
    rmSync(join(folder, ".git", name), { force: true });
    symlinkSync("/dev/zero", join(folder, ".git", name));
    return folder;
  };
  const named = repository("git config core.attributesFile /dev/zero");
  const folders = [zero("info/attributes"), zero("objects/info/alternates"), zero("info/exclude"), named];
  const answers = await Promise.all(folders.map((folder) => ask(folder, "status", "--porcelain")));
  expect(answers.filter((answer) => !answer.includes("is not a regular file"))).toEqual([]);
  expect(await ask(repository("git config core.excludesFile /nowhere/ignored"), "status", "--porcelain")).toBe("");
}, 20_000);

test("a repository whose data is in a secret place is not used, unless its files are there, too", async () => {
  const home = join(tempFolder({ "josé/stores/.keep": "" }), "josé");
  const made = repository("echo a > a && git add a && git commit -q -m a");
  const secret = join(home, ".password-store");
  cpSync(made, secret, { recursive: true });
  const data = join(secret, ".git");
  const project = (change: (git: string) => void): string => {
    const folder = tempFolder();
    cpSync(made, folder, { recursive: true });
    change(join(folder, ".git"));
    return folder;
  };
  const refused = "its data is in a secret place (.password-store), but its work tree is not";
  const changes: Readonly<Record<string, (git: string) => void>> = {
    "a file .git": (git) => {
      rmSync(git, { recursive: true });
      writeFileSync(git, `gitdir: ${data}\n`);
    },
    "a link .git": (git) => {
      rmSync(git, { recursive: true });
      symlinkSync(data, git);
    },
    commondir: (git) => writeFileSync(join(git, "commondir"), `${data}\n`),
    alternates: (git) => writeFileSync(join(git, "objects/info/alternates"), `# comment\n${join(data, "objects")}\n`),
    "quoted alternates": (git) =>
      writeFileSync(join(git, "objects/info/alternates"), JSON.stringify(join(data, "objects"))),
    "quoted alternates with text after them": (git) =>
      writeFileSync(join(git, "objects/info/alternates"), `${JSON.stringify(join(data, "objects"))}x\n`),
    "quoted alternates with octal numbers": (git) =>
      writeFileSync(join(git, "objects/info/alternates"), `"${octal(join(data, "objects"))}"\n`),
    "relative alternates of a folder that is reached by a link": (git) => {
      const folder = join(git, "../deep/in/the/project/objects");
      mkdirSync(join(folder, ".."), { recursive: true });
      renameSync(join(git, "objects"), folder);
      symlinkSync("../deep/in/the/project/objects", join(git, "objects"));
      writeFileSync(join(folder, "info/alternates"), `${relative(realpathSync(folder), join(data, "objects"))}\n`);
    },
    "links to single objects": (git) => {
      for (const name of readdirSync(join(data, "objects")).filter((each) => each.length === 2)) {
        rmSync(join(git, "objects", name), { recursive: true });
        symlinkSync(join(data, "objects", name), join(git, "objects", name));
      }
    },
    "a link behind a link": (git) => {
      mkdirSync(join(git, "../packs"));
      writeFileSync(join(data, "objects/pack/a.pack"), "");
      symlinkSync(join(data, "objects/pack/a.pack"), join(git, "../packs/a.pack"));
      rmSync(join(git, "objects/pack"), { recursive: true });
      symlinkSync("../../packs", join(git, "objects/pack"));
    },
    "a link to one branch": (git) => {
      rmSync(join(git, "refs/heads/main"));
      symlinkSync(join(data, "refs/heads/main"), join(git, "refs/heads/main"));
    },
    "alternates of alternates": (git) => {
      mkdirSync(join(home, "stores/info"));
      writeFileSync(join(home, "stores/info/alternates"), "../.password-store/.git/objects\n");
      writeFileSync(join(git, "objects/info/alternates"), `${join(home, "stores")}\n`);
    },
    ...Object.fromEntries(
      ["objects", "objects/pack", "index", "refs"].map((name) => [
        name,
        (git: string) => {
          rmSync(join(git, name), { recursive: true });
          symlinkSync(join(data, name), join(git, name));
        },
      ]),
    ),
  };
  const answers = await Promise.all(
    Object.entries(changes).map(async ([name, change]) => {
      const opened = await openRepository(project(change), { home });
      return [name, opened.ok ? "opened" : opened.reason];
    }),
  );
  expect(answers).toEqual(Object.keys(changes).map((name) => [name, refused]));
  expect((await openRepository(secret, { home })).ok).toBe(true);
  expect(
    (
      await openRepository(
        project(() => {}),
        { home },
      )
    ).ok,
  ).toBe(true);
});

/** A path with every byte as the octal number with which git quotes it. */
const octal = (path: string): string =>
  Array.from(Buffer.from(path), (byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");

test("a repository with more alternates than are checked is not used", async () => {
  const folder = repository("echo a > a && git add a && git commit -q -m a");
  const file = join(folder, ".git/objects/info/alternates");
  const lines = Array.from({ length: 200 }, (_, at) => `/nowhere/${at}\n`);
  writeFileSync(file, lines.join(""));
  const opened = await openRepository(folder);
  expect(opened).toMatchObject({
    ok: false,
    reason: "it has too many objects, branches or alternates to be checked",
  });
});
