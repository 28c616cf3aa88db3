import { statSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { Option } from "commander";
import { CrewError, messageOf } from "../../core/schema/error.ts";
import { secretFinder, secretPathsIn } from "../../core/policy/secret-paths.ts";
import { mentionOf, mentionsIn, pastedPath } from "../../core/text/mention.ts";
import { sanitize } from "../../core/text/sanitize.ts";
import { type AttachedImage, imageTypeOf, MAX_IMAGE_BYTES, MAX_IMAGES } from "../../core/vocabulary/image.ts";
import { readRegularFile } from "../../runtime/disk/regular-file.ts";
import { folderContains } from "../../runtime/files/folder-contains.ts";
import { realPathOf } from "../../runtime/files/real-path.ts";
import { homes } from "./home.ts";

/** `--image FILE`, which may be given several times. */
export const imageOption = (): Option =>
  new Option("--image <file>", "an image that the model sees with the prompt; may be repeated")
    .argParser((file: string, before: readonly string[] | undefined) => [...(before ?? []), file])
    .helpGroup("Work:");

/**
 * Where a text comes from, which decides the images that a mention in it can attach. A person at a terminal can name
 * any image outside of secret places. The arguments of a command can contain text of other people, as in `"$(cat
 * issue.txt)"`, so they can name only images in the working folder. Text from a pipe can name no image.
 */
export type TextOrigin = "terminal" | "arguments" | "pipe";

type ImageSources = Readonly<{ files?: readonly string[] | undefined; cwd: string; origin: TextOrigin }>;

/**
 * The images of a message: the given files, and the files that the text mentions after `@`, as far as the text may name
 * them.
 */
export async function imagesFor(
  text: string,
  { files = [], cwd, origin }: ImageSources,
): Promise<Readonly<{ images: readonly AttachedImage[]; refused: readonly string[] }>> {
  const named = origin === "pipe" ? [] : mentionsIn(text);
  const mentioned = named.flatMap((name) => imageFile(name, cwd) ?? []);
  const isNameable = nameable(cwd, origin);
  const refused = mentioned.filter((file) => !isNameable(file));
  const all = [...new Set([...files.map((file) => pathOf(file, cwd)), ...mentioned.filter(isNameable)])];
  if (all.length > MAX_IMAGES)
    throw new CrewError(
      "BAD_INPUT",
      `A message can have at most ${MAX_IMAGES} images, and this one has ${all.length}.`,
      "Send the images in several messages.",
    );
  return { images: await Promise.all(all.map(readImage)), refused };
}

/** Says which mentioned images were not attached, and how to attach them; `undefined` if there are none. */
export function refusedImagesText(refused: readonly string[]): string | undefined {
  if (refused.length === 0) return undefined;
  const names = refused.map((file) => sanitize(basename(file))).join(", ");
  return `Not attached: ${names}. @NAME attaches only images in the working folder; attach other images with --image FILE.`;
}

/**
 * A test for the files that a mention may attach. Links are resolved, so a link cannot open a file outside of the
 * working folder.
 */
function nameable(cwd: string, origin: TextOrigin): (file: string) => boolean {
  const { home } = homes();
  const secretIn = secretFinder([...new Set([home, realPathOf(home)])], secretPathsIn(process.env));
  const folder = realPathOf(cwd);
  return (file) => {
    const real = realPathOf(file);
    return secretIn(real) === undefined && (origin === "terminal" || folderContains(folder, real));
  };
}

/** Turns the pasted path of an image into a mention. Other text is returned unchanged. */
export function mentionPasted(text: string, cwd: string): string {
  const path = pastedPath(text);
  return path !== undefined && imageFile(path, cwd) !== undefined ? `${mentionOf(path)} ` : text;
}

const IMAGE_NAME = /\.(?:png|jpe?g|gif|webp|bmp|tiff?|heic|avif)$/i;

/**
 * The image file that a mention in a message names, if its name has an image extension. Punctuation may follow the
 * name.
 */
function imageFile(name: string, cwd: string): string | undefined {
  return [name, name.replace(/[\])}.,;:!?'"]+$/, "")]
    .filter((each) => IMAGE_NAME.test(each))
    .map((each) => pathOf(each, cwd))
    .find((path) => statSync(path, { throwIfNoEntry: false })?.isFile());
}

const pathOf = (file: string, cwd: string): string =>
  file.startsWith("~/") ? join(homes().home, file.slice(2)) : resolve(cwd, file);

async function readImage(file: string): Promise<AttachedImage> {
  const bytes = await readRegularFile(file).catch((error: unknown) => {
    throw new CrewError("BAD_FILE", `The image "${file}" cannot be read: ${messageOf(error)}.`, "Name another file.");
  });
  const type = imageTypeOf(bytes);
  if (type === undefined)
    throw new CrewError(
      "BAD_FILE",
      `"${file}" is not in an image format that models accept.`,
      "Convert the file to PNG, JPEG, GIF or WebP.",
    );
  if (bytes.length > MAX_IMAGE_BYTES)
    throw new CrewError(
      "BAD_FILE",
      `The image "${file}" is too large: ${(bytes.length / 1e6).toFixed(1)} MB; models accept at most ${MAX_IMAGE_BYTES / 1e6} MB.`,
      "Make the image smaller.",
    );
  return { name: basename(file), type, data: bytes.toString("base64") };
}
