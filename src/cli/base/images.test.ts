import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { imagesFor, type TextOrigin } from "./images.ts";

const PNG = Buffer.from("\u0089PNG\r\n\u001a\n", "latin1");

/** A working folder with images in it, beside it, in a secret place, and links to the latter two. */
function pictures(): Readonly<{ cwd: string; outer: string }> {
  const outer = tempFolder();
  const cwd = join(outer, "work");
  mkdirSync(join(cwd, "inner"), { recursive: true });
  for (const file of ["work/a.png", "work/inner/b c.png", "out.png"]) writeFileSync(join(outer, file), PNG);
  symlinkSync("../out.png", join(cwd, "link.png"));
  symlinkSync("..", join(cwd, "up"));
  return { cwd, outer };
}

describe("images that a text mentions", () => {
  const ways = (outer: string): string =>
    `@a.png @"inner/b c.png" @../out.png @link.png @up/out.png @${outer}/out.png @missing.png`;

  test.each<[TextOrigin, readonly string[], readonly string[]]>([
    ["terminal", ["a.png", "b c.png", "out.png", "link.png"], []],
    ["arguments", ["a.png", "b c.png"], ["out.png", "link.png"]],
    ["pipe", [], []],
  ])("images in a text from %s are attached or refused by their location", async (origin, attached, refused) => {
    const { cwd, outer } = pictures();
    const found = await imagesFor(ways(outer), { cwd, origin });
    expect([...new Set(found.images.map(({ name }) => name))]).toEqual(attached);
    expect([...new Set(found.refused.map((file) => file.slice(file.lastIndexOf("/") + 1)))]).toEqual(refused);
  });

  test("a typed text does not attach an image from a secret folder, not even through a symbolic link", async () => {
    const { cwd, outer } = pictures();
    vi.stubEnv("HOME", outer);
    mkdirSync(join(outer, ".ssh"));
    writeFileSync(join(outer, ".ssh", "shot.png"), PNG);
    symlinkSync("../.ssh/shot.png", join(cwd, "shot.png"));
    const { images, refused } = await imagesFor(`@${outer}/.ssh/shot.png @shot.png @../out.png`, {
      cwd,
      origin: "terminal",
    });
    vi.unstubAllEnvs();
    expect({ images: images.map(({ name }) => name), refused: refused.length }).toEqual({
      images: ["out.png"],
      refused: 2,
    });
  });

  test("an image that an option names is attached from any folder", async () => {
    const { cwd, outer } = pictures();
    const files = [join(outer, "out.png")];
    const { images } = await imagesFor("@a.png", { cwd, files, origin: "pipe" });
    expect(images.map(({ name }) => name)).toEqual(["out.png"]);
  });
});
