import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import {
  secretFinder,
  secretHomeFiles,
  secretHomeFolders,
  secretNamed,
} from "../../../src/core/policy/secret-paths.ts";
import { type CrewOptions, createCrew, defineAgent } from "../../../src/index.ts";
import type { ModelRequest } from "../../../src/core/model/model.ts";
import { type ScriptedTurn, scripted } from "../../../src/models/scripted/scripted.ts";
import { type Need, needs, needsTimeout } from "../../needs.ts";
import { call, type Played, play } from "../../support/play.ts";
import { shell } from "../../support/repository.ts";
import { stage } from "../../support/stage.ts";
import { tempFolder } from "../../support/temp-folder.ts";

const CANARY = "canary-5f1d";
const PATH = "/usr/local/bin:/usr/bin:/bin";

/** One file in every secret place of a home folder. */
const everyPlace: readonly string[] = [...secretHomeFolders.map((folder) => `${folder}/file`), ...secretHomeFiles];

/** The best known of these places, and every sixth of the other places: each is tried with every reader. */
const places = everyPlace.filter((place, at) => at % 6 === 0 || /^\.(?:ssh|aws|netrc|kube|config\/gh)\b/.test(place));

/** A folder that commands in the sandbox can see: the folder for temporary files is empty for them. */
function outsideOfTmp(): string {
  const cache = join(import.meta.dirname, "../../../.cache");
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "secret-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function plant(folder: string, files: readonly string[], text = `${CANARY}\n`): void {
  for (const file of files) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
}

function homeWithSecrets(): string {
  const home = outsideOfTmp();
  plant(home, places);
  plant(home, ["notes/plain.txt"], "nothing special\n");
  return home;
}

/** Everything that the model, the journal and a person could see. */
const seen = ({ events }: Pick<Played, "events">): string => JSON.stringify(events);

/** A call of every reading tool with one path. */
const readers = (path: string): { name: string; input: object }[] => [
  { name: "read_file", input: { path } },
  { name: "get_file_info", input: { path } },
  { name: "grep_files", input: { pattern: "canary", path } },
  { name: "grep_files", input: { pattern: "^canary-5", path, filesOnly: true } },
  { name: "edit_file", input: { path, old: "canary", new: "x" } },
  { name: "edit_file", input: { path, old_string: "canary", new_string: "x" } },
  { name: "write_file", input: { path, content: "x" } },
  { name: "move_file", input: { from: path, to: "notes/moved.txt" } },
];

const inHome = (home: string, more: CrewOptions = {}): CrewOptions => ({
  cwd: home,
  env: { PATH, HOME: home },
  permissions: { mode: "bypass" },
  ...more,
});

test("reading secrets: no file tool reads, searches, changes or moves a secret place in the home folder", async () => {
  const home = homeWithSecrets();
  const turn = { calls: places.flatMap(readers) };
  const played = await play([turn], inHome(home));
  expect(seen(played)).not.toContain(CANARY);
  expect(played.denied.filter(({ tool }) => tool === "read_file")).toHaveLength(places.length);
  for (const place of places) expect(readFileSync(join(home, place), "utf8")).toBe(`${CANARY}\n`);
  const find = secretFinder([home], []);
  expect(everyPlace.filter((place) => find(join(home, place)) === undefined)).toEqual([]);
});

test("reading secrets: listing, globbing and searching the home folder shows no secret place", async () => {
  const home = homeWithSecrets();
  const played = await play(
    [
      {
        calls: [
          { name: "list_files", input: { depth: 6 } },
          { name: "glob", input: { pattern: "**/*" } },
          { name: "glob", input: { pattern: "**/.{net,np}rc" } },
          { name: "grep_files", input: { pattern: "canary" } },
          { name: "grep_files", input: { pattern: "(?=canary)canary" } },
          { name: "grep_files", input: { pattern: "canary", filesOnly: true } },
          { name: "list_files", input: { path: ".config" } },
        ],
      },
    ],
    inHome(home),
  );
  const text = played.ended.map((each) => each.text).join("\n");
  expect(text).toContain("plain.txt");
  expect(text).not.toMatch(/canary-|netrc|id_rsa|\.ssh|gcloud|credentials/);
  const found = played.ended.filter(({ tool }) => tool === "grep_files").map((each) => each.text);
  expect(found.every((each) => each.startsWith("[no match for"))).toBe(true);
});

test("reading secrets: neither an absolute path, `..`, another letter case nor a link reaches a secret place", async () => {
  const home = homeWithSecrets();
  symlinkSync(join(home, ".ssh"), join(home, "notes/dir"));
  symlinkSync("../.netrc", join(home, "notes/file"));
  linkSync(join(home, ".ssh/file"), join(home, "notes/hard"));
  linkSync(join(home, ".netrc"), join(home, "notes/hard2"));
  // A secret place that is itself a link also protects its target.
  plant(home, ["dotfiles/aws/credentials"]);
  rmSync(join(home, ".aws"), { recursive: true });
  symlinkSync("dotfiles/aws", join(home, ".aws"));
  const ways = [
    "notes/dir/file",
    "notes/file",
    "notes/hard",
    "notes/hard2",
    "notes/../.ssh/file",
    ".//.ssh/./file",
    join(home, ".ssh/file"),
    `${home}/notes/../.ssh/file`,
    `/proc/self/root${home}/.ssh/file`,
    ".aws/credentials",
    "dotfiles/aws/credentials",
  ];
  const played = await play(
    [{ calls: [{ name: "grep_files", input: { pattern: "canary" } }, ...ways.flatMap(readers)] }],
    inHome(home),
  );
  expect(seen(played)).not.toContain(CANARY);
});

test("reading secrets: a hard link to a secret is not moved, deleted or replaced, and no recorded change contains it", async () => {
  const home = homeWithSecrets();
  for (const name of ["one", "two", "three", "folder/in", "other/in"]) {
    mkdirSync(dirname(join(home, "notes", name)), { recursive: true });
    linkSync(join(home, ".netrc"), join(home, "notes", name));
  }
  const played = await play(
    [
      {
        calls: [
          { name: "move_file", input: { from: "notes/one", to: "notes/x" } },
          { name: "delete_file", input: { path: "notes/two" } },
          { name: "write_file", input: { path: "notes/three", content: "x" } },
          { name: "move_file", input: { from: "notes/folder", to: "notes/y" } },
          { name: "delete_file", input: { path: "notes/other", recursive: true } },
        ],
      },
    ],
    inHome(home),
  );
  expect(played.ended.map(({ tool, error }) => [tool, error])).toHaveLength(5);
  expect(played.ended.filter(({ error }) => !error)).toEqual([]);
  expect(seen(played)).not.toContain(CANARY);
});

test("reading secrets: a folder that contains a secret place is neither moved nor deleted as a whole", async () => {
  const home = homeWithSecrets();
  const played = await play(
    [
      {
        calls: [
          { name: "move_file", input: { from: ".config", to: "open" } },
          { name: "delete_file", input: { path: ".config", recursive: true } },
          { name: "delete_file", input: { path: ".local", recursive: true } },
        ],
      },
    ],
    inHome(home, { permissions: { mode: "bypass", allow: ["move_file(.config/**)", "delete_file(.config/**)"] } }),
  );
  expect(played.ended.every(({ error }) => error)).toBe(true);
  expect(readFileSync(join(home, ".config/gh/file"), "utf8")).toBe(`${CANARY}\n`);
});

/** Files of programs that are not on the list; their names say what they hold. */
const byName = [
  ".unknown/credentials.json",
  ".unknown/api_key",
  ".unknown/secrets/deep/file",
  ".unknown-token",
  ".unknown_history",
  ".unknownhistory.txt",
  ".config/unknown/auth.toml",
  ".config/unknown/Access Tokens/x",
  ".config/unknown.pem",
  ".local/share/unknown/cookies.sqlite",
  ".local/state/unknown/history.db",
  ".UNKNOWN/Wallet.dat",
] as const;

test("reading secrets: files of unknown programs are recognised by their names, and ordinary files stay open", async () => {
  const home = outsideOfTmp();
  plant(home, byName);
  const open = [
    ".config/unknown/config",
    ".unknown/tokenizer.py",
    ".config/nvim/auth.lua",
    "src/token.txt",
    ".profile",
  ];
  plant(home, open, "ordinary-77\n");
  const calls = [
    { name: "grep_files", input: { pattern: "canary|ordinary" } },
    { name: "glob", input: { pattern: "**/*" } },
    ...byName.flatMap(readers),
    ...open.map((path) => ({ name: "read_file", input: { path } })),
  ];
  const played = await play([{ calls }], inHome(home));
  expect(seen(played)).not.toContain(CANARY);
  const read = played.ended.filter(({ tool, text }) => tool === "read_file" && text.includes("ordinary-77"));
  expect(read).toHaveLength(open.length);
  const named = await play([call("read_file", { path: byName[0] })], {
    ...inHome(home),
    permissions: { allow: [`read_file(${byName[0]})`, "read_file(.unknown/api*)"] },
  });
  expect(seen(named)).toContain(CANARY);
});

test("reading secrets: secret places are also protected in a workspace above the home folder, and in the home folders of other users", async () => {
  const top = outsideOfTmp();
  const home = join(top, "home/me");
  plant(home, places);
  const played = await play(
    [
      {
        calls: [
          { name: "grep_files", input: { pattern: "canary" } },
          ...places.flatMap((place) => readers(`home/me/${place}`)),
        ],
      },
    ],
    inHome(top, { env: { PATH, HOME: home } }),
  );
  expect(seen(played)).not.toContain(CANARY);
  const find = secretFinder(["/home/me"], []);
  expect(
    ["/root/.ssh/id", "/home/you/.netrc", "/Users/you/.aws/x", "/HOME/me/.ssh", "/proc/1/environ"].map(find),
  ).toEqual([".ssh", ".netrc", ".aws", undefined, "/proc"]);
});

test("reading secrets: a workspace that is the whole disk does not show the data of processes in /proc", async () => {
  const played = await play(
    [
      {
        calls: ["/proc/self/environ", "proc/self/environ", `/proc/${process.pid}/environ`, "/etc/shadow"].flatMap(
          readers,
        ),
      },
    ],
    inHome("/", { env: { PATH, HOME: tempFolder() }, permissions: { mode: "default" } }),
  );
  expect(played.ended.filter(({ tool }) => tool === "read_file")).toEqual([]);
  expect(played.denied.filter(({ tool }) => tool === "read_file")).toHaveLength(4);
});

test("reading secrets: a place that a variable names is secret, too", async () => {
  const cwd = tempFolder();
  plant(cwd, ["cluster/kube.yaml", "keys/a.json", "ok.txt"]);
  const env = {
    PATH,
    HOME: tempFolder(),
    KUBECONFIG: `/nowhere:${join(cwd, "cluster/kube.yaml")}`,
    GOOGLE_APPLICATION_CREDENTIALS: join(cwd, "keys/a.json"),
  };
  const played = await play([{ calls: ["cluster/kube.yaml", "keys/a.json"].flatMap(readers) }], { cwd, env });
  expect(seen(played)).not.toContain(CANARY);
});

test("reading secrets: only a rule that names the place opens it, and only to the tool it names", async () => {
  const home = homeWithSecrets();
  const reads = [call("read_file", { path: ".ssh/file" }), call("grep_files", { pattern: "canary", path: ".ssh" })];
  const tries = async (...allow: string[]): Promise<boolean[]> => {
    const { ended } = await play(reads, inHome(home, { permissions: { mode: "bypass", allow } }));
    return ["read_file", "grep_files"].map((name) =>
      ended.some(({ tool, text }) => tool === name && text.includes(CANARY)),
    );
  };
  expect(await tries("read_file", "read_file(**)", "read_file(*)", "read_file(.s*/**)")).toEqual([false, false]);
  expect(await tries("read_file(.ssh/config)")).toEqual([false, false]);
  expect(await tries("read_file(.ssh/file)")).toEqual([true, false]);
  expect(await tries("read_file(.ssh/**)", "grep_files(.ssh/**)", "grep_files(.ssh)")).toEqual([true, true]);
});

test("reading secrets: context files and the git context of a home folder leave secret places out", async () => {
  const home = homeWithSecrets();
  shell(home, "git init -q . && git add -A -f && git commit -qm x");
  plant(home, [".aws/file", "notes/plain.txt"], `${CANARY} changed\n`);
  writeFileSync(join(home, "notes/plain.txt"), "changed\n");
  const asked: string[] = [];
  const crew = createCrew({
    ...inHome(home),
    home: tempFolder(),
    discover: false,
    agents: [defineAgent({ name: "worker", description: "works", instructions: "Work." })],
    models: {
      m: scripted((request) => {
        asked.push(JSON.stringify(request));
        return "done";
      }),
    },
    model: "m",
  });
  const result = await crew.run({
    mode: "single",
    agent: "worker",
    task: "Go.",
    contextFiles: [...places, "notes/plain.txt"],
    gitContext: { diff: true, status: true, diffStats: true },
  });
  expect(result.status).toBe("ok");
  expect(asked.join()).toContain("+changed");
  expect(asked.join()).not.toContain(CANARY);
});

test("reading secrets: no file of a trusted project leads to a secret place: instructions, skills, prompts of agents", async () => {
  const home = homeWithSecrets();
  const cwd = join(home, "project");
  const [state, kube] = [join(cwd, "state"), join(cwd, "kube.yaml")];
  plant(cwd, ["kube.yaml", "state/config.yaml", "plain.md"]);
  writeFileSync(join(cwd, "plain.md"), "plain-import\n");
  plant(cwd, ["AGENTS.md"], "Read @kube.yaml, @link.yaml, @state/config.yaml and @plain.md\n");
  symlinkSync("kube.yaml", join(cwd, "link.yaml"));
  symlinkSync("kube.yaml", join(cwd, "CLAUDE.local.md"));
  const agent = (name: string): string => `---\nname: ${name}\ndescription: d\ntools: skill\n---\nWork.\n`;
  plant(cwd, [".subcrew/agents/own.md"], agent("own"));
  plant(cwd, [".claude/agents/other.md"], agent("other"));
  const prompt = "{file:./kube.yaml}";
  plant(cwd, ["opencode.json"], JSON.stringify({ agent: { third: { description: "d", mode: "all", prompt } } }));
  for (const [skill, target] of Object.entries({ a: "../../../kube.yaml", b: join(home, ".netrc") })) {
    mkdirSync(join(cwd, ".claude/skills", skill), { recursive: true });
    symlinkSync(target, join(cwd, ".claude/skills", skill, "SKILL.md"));
  }
  shell(cwd, "git init -q .");
  const asked: string[] = [];
  const skills = { calls: ["a", "b"].map((name) => ({ name: "skill", input: { name } })) };
  const answer = (request: ModelRequest): ScriptedTurn => {
    asked.push(JSON.stringify(request));
    return request.messages.length > 1 ? "done" : skills;
  };
  const crew = createCrew({
    cwd,
    home: state,
    userHome: home,
    env: { PATH, HOME: home, KUBECONFIG: kube },
    trusted: true,
    unattended: true,
    models: { m: scripted(...Array.from({ length: 6 }, () => answer)) },
    model: "m",
  });
  for (const name of ["own", "other", "third"])
    await Promise.resolve(crew.run({ mode: "single", agent: name, task: "Go." })).catch(() => {});
  expect(asked.join()).toContain("plain-import");
  expect(asked.join()).not.toContain(CANARY);
});

/** A home folder that is a repository with these files in its first commit. */
function homeRepository(...files: readonly string[]): string {
  const home = outsideOfTmp();
  plant(home, files);
  plant(home, ["notes/plain.txt"], "before\n");
  shell(home, "git init -q . && git add -A -f && git commit -qm x");
  writeFileSync(join(home, "notes/plain.txt"), "changed\n");
  return home;
}

const gitContext = { diff: true, status: true, diffStats: true };

test("reading secrets: the git context shows no text of secrets that were deleted, moved or have unusual names", async () => {
  const home = homeRepository(".netrc", ".aws/credentials", ".ssh/id", ".kube/ä\t1", "other.txt");
  shell(home, "git mv .aws/credentials .aws/moved && git rm -qf .netrc && rm -r .ssh && echo canary-5f1d >> .kube/ä*");
  const { models } = await stage({ lead: { says: ["done"] } }, inHome(home), {}, { gitContext });
  const asked = JSON.stringify(models["lead"]?.requests);
  expect(asked).toContain("+changed");
  expect(asked).not.toMatch(/canary|netrc|credentials|\.ssh|\.kube/);
});

test("reading secrets: the git context is left out if the name of a denied file is not valid text", async () => {
  const home = homeRepository();
  shell(home, "printf canary-5f1d > \"$(printf 'closed\\377')\" && git add -A -f");
  const permissions = { deny: ["read_file(closed*)"] };
  const { models } = await stage({ lead: { says: ["done"] } }, inHome(home, { permissions }), {}, { gitContext });
  const asked = JSON.stringify(models["lead"]?.requests);
  expect(asked).toContain("**Git Diff:** (left out: the name of a file that may not be read is not valid text)");
  expect(asked).not.toContain("canary");
});

test.each(["", "notes"])(
  "reading secrets: the git context that an agent requests with the tool parallel in %j leaves secrets out",
  async (folder) => {
    const home = homeRepository(".netrc", "closed.txt");
    plant(home, [".netrc", "closed.txt"], `${CANARY} changed\n`);
    const asks = { tasks: [{ agent: "helper", task: "Help." }], gitContext };
    const { models } = await stage(
      { lead: { says: [call("parallel", asks), "done"], tools: ["parallel"] }, helper: { says: ["done"] } },
      inHome(join(home, folder), { env: { PATH, HOME: home }, permissions: { deny: ["read_file(**/closed.txt)"] } }),
    );
    const asked = JSON.stringify(models["helper"]?.requests);
    expect(asked).toContain("+changed");
    expect(asked).not.toMatch(/canary|netrc|closed/);
  },
);

test("reading secrets: a rule that forbids reading a file applies to the context of a run", async () => {
  const home = homeRepository("project/.env");
  plant(home, ["project/.env"], `${CANARY} changed\n`);
  const options = inHome(join(home, "project"), {
    env: { PATH, HOME: home },
    permissions: { deny: ["read_file(**/.env)"] },
  });
  const context = { gitContext, contextFiles: [".env"] };
  const { models } = await stage({ lead: { says: ["done"] } }, options, {}, context);
  const asked = JSON.stringify(models["lead"]?.requests);
  expect(asked).toContain("+changed");
  expect(asked).not.toContain(CANARY);
});

describe("the state folder in the workspace", () => {
  const state = (cwd: string): string => join(cwd, "deep/state");
  const config = "permissions: { mode: default }\n";
  const inside = ["deep/state/config.yaml", "deep/state/mcp-logins/x.json", "deep/state/trust.json"];

  function workspace(): string {
    const cwd = outsideOfTmp();
    plant(cwd, inside, `${config}# ${CANARY}\n`);
    symlinkSync("deep/state", join(cwd, "elsewhere"));
    linkSync(join(cwd, inside[0]!), join(cwd, "hard.yaml"));
    return cwd;
  }

  test("reading secrets: no tool reads or writes it, by any path, under any rule", async () => {
    const cwd = workspace();
    const ways = [
      ...inside,
      "elsewhere/config.yaml",
      "hard.yaml",
      join(cwd, inside[0]!),
      "deep/../deep/state/config.yaml",
    ];
    const played = await play(
      [
        {
          calls: [
            ...ways.flatMap(readers),
            { name: "write_file", input: { path: "deep/state/agents/new.md", content: "x" } },
            { name: "write_file", input: { path: "elsewhere/new.md", content: "x" } },
            { name: "move_file", input: { from: "deep", to: "other" } },
            { name: "move_file", input: { from: "deep/state", to: "other" } },
            { name: "delete_file", input: { path: "deep", recursive: true } },
            { name: "list_files", input: { depth: 5 } },
            { name: "grep_files", input: { pattern: "canary" } },
          ],
        },
      ],
      {
        cwd,
        home: state(cwd),
        env: { PATH, HOME: tempFolder() },
        permissions: {
          mode: "bypass",
          allow: ["read_file(deep/state/**)", "write_file(deep/state/config.yaml)", "read_file"],
        },
      },
    );
    expect(seen(played)).not.toContain(CANARY);
    expect(readFileSync(join(cwd, inside[0]!), "utf8")).toBe(`${config}# ${CANARY}\n`);
    expect(played.ended.find(({ tool }) => tool === "list_files")?.text).not.toContain("config.yaml");
  });

  /** A workspace in which the state folder is reached through two links. */
  function linkedState(): Readonly<{ cwd: string; options: CrewOptions }> {
    const cwd = workspace();
    symlinkSync("deep", join(cwd, "way"));
    symlinkSync("way/state", join(cwd, "state"));
    const options: CrewOptions = {
      cwd,
      home: join(cwd, "state"),
      env: { PATH, HOME: tempFolder() },
      permissions: { mode: "bypass", allow: ["move_file(way)", "delete_file(state)", "write_file(state)"] },
    };
    return { cwd, options };
  }

  test("reading secrets: a link that leads to it is neither moved, deleted nor replaced", async () => {
    const { cwd, options } = linkedState();
    const names = ["state", "way"];
    const calls = names.flatMap((name) => [
      { name: "move_file", input: { from: name, to: "moved" } },
      { name: "move_file", input: { from: "hard.yaml", to: name, overwrite: true } },
      { name: "delete_file", input: { path: name, recursive: true } },
      { name: "write_file", input: { path: name, content: "x" } },
    ]);
    const played = await play([{ calls }], options);
    expect([...played.ended, ...played.denied].filter((each) => !("error" in each) || each.error)).toHaveLength(8);
    expect(names.map((name) => readlinkSync(join(cwd, name)))).toEqual(["way/state", "deep"]);
  });

  test("reading secrets: a run that works in the state folder itself reads and writes none of its files", async () => {
    const cwd = workspace();
    const played = await play(
      [call("grep_files", { pattern: "canary" }), { calls: ["config.yaml", "mcp-logins/x.json"].flatMap(readers) }],
      { cwd: state(cwd), home: state(cwd), env: { PATH, HOME: tempFolder() }, permissions: { mode: "bypass" } },
    );
    expect(seen(played)).not.toContain(CANARY);
    expect(readFileSync(join(cwd, inside[0]!), "utf8")).toContain(CANARY);
  });

  describe("commands", () => {
    let bwrap: Need;
    beforeAll(async () => {
      bwrap = await needs("bwrap");
    }, needsTimeout);
    beforeEach((context) => {
      if (bwrap.missing !== undefined) context.skip(bwrap.missing);
    });

    const attack =
      "cat $(find -L . -type f) 2>/dev/null; for f in $(find -L . -name '*.yaml'); do echo evil >> $f; done; true";

    test.each(["", "deep/state", "deep/state/mcp-logins"])(
      "reading secrets: no command sees or changes the state folder, also through a hard link, when it works in %j",
      async (folder) => {
        const cwd = workspace();
        const played = await play([call("bash", { command: attack })], {
          cwd: join(cwd, folder),
          home: state(cwd),
          env: { PATH, HOME: tempFolder() },
          permissions: { mode: "bypass" },
        });
        expect(seen(played)).not.toContain(CANARY);
        expect(readFileSync(join(cwd, inside[0]!), "utf8")).toBe(`${config}# ${CANARY}\n`);
      },
    );

    test("reading secrets: a link to the state folder that a command replaced is restored", async () => {
      const { cwd, options } = linkedState();
      const replace = (name: string): string => `rm ${name}; mkdir ${name}; echo evil > ${name}/config.yaml`;
      await play([call("bash", { command: `${replace("state")}; ${replace("way")}` })], options);
      expect(["state", "way"].map((name) => readlinkSync(join(cwd, name)))).toEqual(["way/state", "deep"]);
      expect(readFileSync(join(cwd, inside[0]!), "utf8")).toBe(`${config}# ${CANARY}\n`);
    });

    test("reading secrets: no command sees a secret place of the home folder it works in", async () => {
      const home = homeWithSecrets();
      plant(home, byName);
      linkSync(join(home, ".ssh/file"), join(home, "notes/hard"));
      const played = await play([call("bash", { command: "find . -type f -exec cat {} + 2>&1" })], inHome(home));
      expect(played.ended[0]?.text).toContain("nothing special");
      expect(seen(played)).not.toContain(CANARY);
    });
  });
});

test("reading secrets: another link to the home folder, moved or not, opens no secret place", async () => {
  const moves = [
    { name: "move_file", input: { from: "here", to: "notes/there" } },
    { name: "move_file", input: { from: "notes/up", to: "away" } },
  ];
  const through = ["here", "notes/up", "notes/there/..", "away"].flatMap((link) => [
    ...readers(`${link}/${places[0]}`),
    { name: "read_file", input: { path: `${link}/notes/plain.txt` } },
  ]);
  const home = homeWithSecrets();
  symlinkSync(".", join(home, "here"));
  symlinkSync(home, join(home, "notes/up"));
  for (const turns of [[through], [moves, through]]) {
    const played = await play(
      turns.map((calls) => ({ calls })),
      inHome(home),
    );
    expect(seen(played)).not.toContain(CANARY);
    expect(played.ended.some(({ tool, text }) => tool === "read_file" && text.includes("nothing special"))).toBe(true);
  }
  expect([readlinkSync(join(home, "notes/there")), readlinkSync(join(home, "away"))]).toEqual([".", home]);
  expect(readFileSync(join(home, places[0]!), "utf8")).toContain(CANARY);
});

test("reading secrets: a hard link to a file that a rule closes is as closed as the file", async () => {
  const cwd = outsideOfTmp();
  plant(cwd, [".env", "private/deep/key"]);
  plant(cwd, ["open.txt"], "open-12\n");
  mkdirSync(join(cwd, "sub"));
  linkSync(join(cwd, ".env"), join(cwd, "sub/copy.txt"));
  linkSync(join(cwd, "private/deep/key"), join(cwd, "other.txt"));
  linkSync(join(cwd, "open.txt"), join(cwd, "sub/open.txt"));
  const calls = [
    ...["sub/copy.txt", "other.txt", "sub/open.txt"].flatMap((path) => readers(path).slice(0, 4)),
    { name: "grep_files", input: { pattern: "canary" } },
    ...((await needs("bwrap")).missing === undefined
      ? [{ name: "bash", input: { command: "cat sub/copy.txt other.txt sub/open.txt" } }]
      : []),
  ];
  const deny = ["read_file(**/.env)", "read_file(private/**)"];
  const permissions = { mode: "bypass" as const, deny };
  const played = await play([{ calls }], { cwd, env: { PATH, HOME: tempFolder() }, permissions });
  expect(seen(played)).not.toContain(CANARY);
  const shown = played.ended.filter(({ tool, text }) => /read_file|bash/.test(tool) && text.includes("open-12"));
  expect(shown).toHaveLength(calls.length > 13 ? 2 : 1);
});

describe("worktrees", () => {
  test("reading secrets: copies of secrets in a worktree of the home folder are as protected as the files themselves", async () => {
    const home = homeWithSecrets();
    shell(home, "git init -q . && git add -A -f && git commit -qm x && git rm -rq --cached .aws && git commit -qm y");
    const played = await play(
      [
        {
          calls: [
            { name: "read_file", input: { path: "notes/plain.txt" } },
            { name: "grep_files", input: { pattern: "canary" } },
            { name: "list_files", input: { depth: 4 } },
            { name: "bash", input: { command: "cat .ssh/file .netrc .aws/file .config/gh/file; true" } },
            ...[".ssh/file", ".netrc", ".aws/file", ".config/gh/file"].flatMap(readers),
          ],
        },
      ],
      { ...inHome(home), home: outsideOfTmp(), input: { isolation: "worktree", isolationDirty: true } },
    );
    expect(played.ended.find(({ tool, error }) => tool === "read_file" && !error)?.text).toContain("nothing special");
    expect(seen(played)).not.toContain(CANARY);
  });
});

test("reading secrets: a rule opens a place only by its literal name", () => {
  expect(
    [".ssh/**", "./.aws", "home/me/.config/gcloud/x", "/etc/shadow"].map((each) => secretNamed(each) !== undefined),
  ).toEqual([true, true, true, true]);
  expect(["**", ".s?h/**", "src/**", ".config/**", "*"].map(secretNamed)).toEqual(Array.from({ length: 5 }));
});

describe("a file about which a rule asks, or that an agent's file forbids to read", () => {
  const calls = [
    { name: "grep_files", input: { pattern: "canary" } },
    { name: "grep_files", input: { pattern: "canary", path: "docs" } },
    { name: "grep_files", input: { pattern: "canary", path: "docs/plan.txt" } },
    { name: "get_file_info", input: { path: "docs/plan.txt" } },
    { name: "edit_file", input: { path: "docs/plan.txt", old: "canary", new: "x" } },
    { name: "move_file", input: { from: "docs/plan.txt", to: "plan.txt" } },
    { name: "move_file", input: { from: "docs", to: "moved" } },
    { name: "read_file", input: { path: "docs/plan.txt" } },
  ];
  const workspace = (): string => {
    const cwd = tempFolder();
    plant(cwd, ["docs/plan.txt"]);
    plant(cwd, ["src/open.txt"], "an open canary\n");
    return cwd;
  };
  const read = { tool: "read_file", pattern: "docs/plan.txt" };

  test.each<[string, object]>([
    ["an ask rule", { permissions: { mode: "acceptEdits", ask: ["read_file(docs/plan.txt)"] } }],
    ["an ask rule for all files", { permissions: { mode: "bypass", ask: ["read_file(**)"] } }],
    [
      "an ask rule of the agent",
      { agent: { rules: [[{ ...read, says: "ask" }]] }, permissions: { mode: "acceptEdits" } },
    ],
    [
      "a deny rule of the agent",
      { agent: { rules: [[{ ...read, says: "deny" }]] }, permissions: { mode: "acceptEdits" } },
    ],
  ])("%s: no other tool shows its content, and it is not moved", async (_, setting) => {
    const cwd = workspace();
    const played = await play([{ calls }], { cwd, ...setting });
    expect(seen(played)).not.toContain(CANARY);
    expect(played.denied.map(({ tool }) => tool)).toContain("get_file_info");
    expect(readFileSync(join(cwd, "docs/plan.txt"), "utf8")).toBe(`${CANARY}\n`);
  });

  test("the approval of a person allows this call only, and other files need no approval", async () => {
    const played = await play(
      [...calls.slice(0, 3).map((each) => ({ calls: [each] })), call("list_files", { depth: 3 })],
      {
        cwd: workspace(),
        permissions: { ask: ["read_file(docs/plan.txt)"] },
        answer: () => ({ approve: true }),
      },
    );
    expect(played.ended.map(({ text }) => text)).toEqual([
      "src/open.txt:1: an open canary",
      '[no match for "canary"]',
      `docs/plan.txt:1: ${CANARY}`,
      expect.stringContaining("plan.txt"),
    ]);
    expect(played.questions).toHaveLength(1);
  });
});
