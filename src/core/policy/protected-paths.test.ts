import { describe, expect, test } from "vitest";
import { isAbovePlace, isUnlisted, mayBeProtected, protectedPart } from "./protected-paths.ts";

describe("in a home folder", () => {
  const places = [
    ...[
      "bin/x",
      ".local/bin/x",
      ".config/environment.d/a.conf",
      ".pam_environment",
      ".xinitrc",
      ".config/autostart/a.desktop",
    ],
    ...[
      ".config/systemd/user/a.service",
      ".config/nvim/init.lua",
      ".vim/vimrc",
      ".emacs.d/init.el",
      ".cargo/config.toml",
    ],
    ...[
      ".gradle/init.gradle",
      ".gradle/init.d/a.gradle",
      ".m2/settings.xml",
      ".config/pip/pip.conf",
      ".npmrc",
      ".config/npm/npmrc",
    ],
  ];

  test.each([
    ["that is the workspace", { cut: "", add: "" }, ""],
    ["below the workspace", { cut: "home/u", add: "" }, "home/u/"],
  ])("%s, programs and start-up files are protected", (_, anchor, before) => {
    expect(places.filter((place) => protectedPart(before + place, { homes: [anchor] }) === undefined)).toEqual([]);
    expect(protectedPart(`${before}notes/bin/x`, { homes: [anchor] })).toBeUndefined();
    expect(protectedPart(`${before}src/.cargo/config.toml`, { homes: [anchor] })).toBeUndefined();
  });

  test("unlisted settings and programs are protected, and data is not", () => {
    const home = { homes: [{ cut: "", add: "" }] };
    const unlisted = [
      ...[".mkshrc", ".foorc", ".wezterm.lua", ".foo.conf", ".foo_profile", ".Foo.TOML", ".foo.d/x", ".bashrc.local"],
      ...[
        ".foo/bin/ls",
        ".foo/shims/python",
        ".config/mpv/scripts/x.lua",
        ".config/hg/hgrc",
        ".config/foo",
        "go/bin/x",
      ],
      ...[".node_modules/x.js", ".terminfo/x/xterm", ".dir-locals.el", ".hammerspoon/init.lua"],
      ...[".foo/data.json", ".foo/hooks/on-exit", ".mozilla/native-messaging-hosts/x.json", ".vnc/xstartup", ".my.cnf"],
      ...[".Xclients", ".local/share/vulkan/implicit_layer.d/x.json", ".local/share/bash-completion/completions/ls"],
      ...[".local/opt/x/bin/y", "n/bin/node", ".zcompdump", ".\uff46oo/x"],
    ];
    expect(unlisted.filter((place) => protectedPart(place, home) === undefined)).toEqual([]);
    expect(unlisted.filter((place) => !place.split("/").some((name) => mayBeProtected(name)))).toEqual([]);
    expect([mayBeProtected("foo", undefined, "home/u/.local/share"), mayBeProtected("foo")]).toEqual([true, false]);
    const data = [
      ...[".cache/x/y.json", ".npm/_cacache/x", ".cargo/registry/x", ".m2/repository/x", ".gradle/caches/x"],
      ...[".local/share/Trash/files/a", ".local/state/x", ".local", ".local/share", ".bash_history", ".zsh_history"],
      ...[".notes.txt.swp", ".Xauthority-c", ".local/share/foo.refused-ab12cd", ".foo.refused-ab12cd/x"],
      ...["notes/.foo/x", "a.conf", "notes/.local/share/foo"],
    ];
    expect(data.filter((place) => protectedPart(place, home) !== undefined)).toEqual([]);
    expect(protectedPart(".foorc")).toBeUndefined();
    expect(protectedPart(".foorc.refused-ab12cd", home)).toBeUndefined();
    expect([isUnlisted(".foo/x", home), isUnlisted(".vim/x", home), isUnlisted(".foorc", home)]).toEqual([
      true,
      false,
      false,
    ]);
    expect([isUnlisted(".git/x", home), isUnlisted("a/.foo", home), isUnlisted(".foo/.git", home)]).toEqual([
      false,
      false,
      false,
    ]);
    expect([isAbovePlace(".foo", home), isAbovePlace("foo", home), isAbovePlace(".foo")]).toEqual([true, false, false]);
  });

  test("a protected folder above the workspace counts, unless it contains the workspace", () => {
    expect(protectedPart("bin/x", { homes: [{ cut: "", add: ".local" }] })).toBe(".local/bin");
    expect(protectedPart("src/bin/x", { homes: [{ cut: "", add: "work/project" }] })).toBeUndefined();
    expect(protectedPart("lua/init.lua", { homes: [{ cut: "", add: ".config/nvim" }] })).toBeUndefined();
  });

  test("a symbolic link above a protected path is protected, too; an ordinary folder is not", () => {
    expect([isAbovePlace(".local", { homes: [{ cut: "", add: "" }] }), isAbovePlace(".local")]).toEqual([true, false]);
    expect([isAbovePlace("x/.github"), isAbovePlace("data"), isAbovePlace("x/data")]).toEqual([true, true, false]);
  });
});

test("programs that git runs at the next commit, and files that an editor loads with the folder, are protected", () => {
  const hooks = [
    ".githooks/pre-commit",
    ".git-hooks/x",
    ".pre-commit-config.yaml",
    "sub/lefthook.yml",
    ".lefthook.toml",
    "lefthook-local.yaml",
    ".lefthook-local.json",
    "prek.toml",
    "captainhook.json",
    "grumphp.yml",
    ".trunk/trunk.yaml",
    ".huskyrc.json",
    ".pijul/config",
  ];
  const editors = [".helix/languages.toml", ".theia/tasks.json", ".vs/launch.vs.json", ".lapce/settings.toml"];
  expect([...hooks, ...editors].filter((place) => protectedPart(place) === undefined)).toEqual([]);
});

test("in a project, files with the same names are ordinary source", () => {
  for (const place of ["bin/x", ".cargo/config.toml", ".gradle/gradle.properties", ".mvn/extensions.xml", "lib/x"])
    expect([place, protectedPart(place)]).toEqual([place, undefined]);
});

test.each([
  ".GIT",
  ".g\u200cit",
  ".gi\u00adt",
  ".git\ufe0f",
  ".\uff47it",
  "\uff0egit",
  ".git.",
  ".git ",
  ".git::$DATA",
  "GIT~1",
])("%j is .git under another spelling", (name) => {
  expect([mayBeProtected(name), protectedPart(`a/${name}/hooks`) === undefined]).toEqual([true, false]);
});

test.each([".gitignore", ".github", "git", "agit", ".git-blame-ignore-revs", "legit"])(
  "%j is not protected",
  (name) => {
    expect(protectedPart(`a/${name}`)).toBeUndefined();
  },
);

test("files that programs load from the folder they are started in are protected at any depth", () => {
  const names = [
    ...[".pdbrc", ".irbrc", ".pryrc", ".Rprofile", ".ghci", ".ocamlinit", ".iex.exs", ".erlang"],
    ...["mise.toml", ".mise.local.toml", ".mise/config.toml", ".config/mise/config.toml", ".agent/rules/a.md"],
    ...[".pnpmfile.mjs", ".jj/repo/config.toml", ".sl/config", ".fleet/run.json", ".nova/Tasks/a.json"],
    ...["mise/config.toml", ".new-agent/mcp.json", ".new-agent/hooks.json", ".new-agent/MCP_config.json"],
    ...[".amp/settings.json", ".continue/config.yaml", ".junie/mcp/mcp.json", ".trae/mcp.json"],
  ];
  expect(names.filter((name) => protectedPart(`pkg/deep/${name}`) === undefined)).toEqual([]);
  expect(names.filter((name) => !mayBeProtected(name.split("/")[0]!))).toEqual([]);
  expect(names.filter((name) => !mayBeProtected(name.split("/").at(-1)!) && !name.startsWith("."))).toEqual([]);
  expect([protectedPart("src/mcp.json"), protectedPart(".new-agent/notes.json")]).toEqual([undefined, undefined]);
});

test.each([
  ".devcontainer.json",
  ".amazonq/cli-agents/a.json",
  ".aider.conf.yml",
  "crush.json",
  "_darcs/prefs/defaults",
  ".RData",
  ".octaverc",
])("in a project, %s is protected at any depth", (place) => {
  expect(protectedPart(place)).toBeDefined();
  expect(protectedPart(`packages/a/${place}`)).toBeDefined();
  expect(mayBeProtected(place.split("/")[0]!)).toBe(true);
});

test.each([".gitmodules", ".mcp.json", ".exrc", "opencode.json", ".ssh", ".gnupg"])(
  "%s is protected at any depth, even when the home folder is unknown",
  (name) => {
    expect(protectedPart(`a/b/${name}`)).toBe(name);
    expect(mayBeProtected(name)).toBe(true);
  },
);

test("a symbolic link in place of a parent folder of a protected path is protected, also for paths that git's configuration names", () => {
  expect(["x/.github", ".config", "x/library", "data"].map((path) => isAbovePlace(path))).toEqual([
    true,
    true,
    true,
    true,
  ]);
  expect(isAbovePlace("tools", { configured: ["tools/hooks/run"] })).toBe(true);
  expect(isAbovePlace("tools/hooks", { configured: ["tools/hooks/run"] })).toBe(true);
  expect(isAbovePlace("tools")).toBe(false);
});

test("paths outside of the home folder are not treated as paths inside it", () => {
  const homes = [{ cut: "home/ann", add: "" }];
  expect(protectedPart("home/ann/bin/x", { homes })).toBe("bin");
  expect(protectedPart("home/bob/bin/x", { homes })).toBeUndefined();
  expect(isAbovePlace("home/bob/go", { homes })).toBe(false);
});

test("the fast check accepts every name on the way to a protected path, and no other name", () => {
  for (const name of ["subagents", "data", "agents.yaml", "library", "launchagents", "launchdaemons", "go", "perl5"])
    expect(mayBeProtected(name), name).toBe(true);
  expect(mayBeProtected("tool")).toBe(false);
  expect(mayBeProtected("tool", new Set(["other"]))).toBe(false);
  expect(mayBeProtected("tool", new Set(["tool"]))).toBe(true);
});
