import { describe, expect, test } from "vitest";
import { isAbovePlace, mayBeProtected, protectedPart } from "./protected-paths.ts";

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
    ];
    expect(unlisted.filter((place) => protectedPart(place, home) === undefined)).toEqual([]);
    expect(unlisted.filter((place) => !place.split("/").some((name) => mayBeProtected(name)))).toEqual([]);
    const data = [
      ".cache/x/y.json",
      ".npm/_cacache/x",
      ".local/share/foo/data",
      ".foo/data.json",
      "notes/.foo/x",
      "a.conf",
    ];
    expect(data.filter((place) => protectedPart(place, home) !== undefined)).toEqual([]);
    expect(protectedPart(".foorc")).toBeUndefined();
    expect(protectedPart(".foorc.refused-ab12", home)).toBeUndefined();
    expect([isAbovePlace(".foo", home), isAbovePlace("foo", home), isAbovePlace(".foo")]).toEqual([true, false, false]);
  });

  test("a protected folder above the workspace counts, unless it contains the workspace", () => {
    expect(protectedPart("bin/x", { homes: [{ cut: "", add: ".local" }] })).toBe(".local/bin");
    expect(protectedPart("src/bin/x", { homes: [{ cut: "", add: "work/project" }] })).toBeUndefined();
    expect(protectedPart("lua/init.lua", { homes: [{ cut: "", add: ".config/nvim" }] })).toBeUndefined();
  });

  test("a symbolic link above a protected path counts, a folder does not", () => {
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
    ...[".amp/settings.json", ".continue/config.yaml", ".junie/mcp/mcp.json", ".trae/mcp.json"],
  ];
  expect(names.filter((name) => protectedPart(`pkg/deep/${name}`) === undefined)).toEqual([]);
  expect(names.filter((name) => !mayBeProtected(name.split("/")[0]!))).toEqual([]);
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
