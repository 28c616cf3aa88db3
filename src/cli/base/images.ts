import { homedir } from "node:os";
import { statSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { Option } from "commander";
import { CrewError, messageOf } from "../../core/schema/error.ts";
import { mentionOf, mentionsIn, pastedPath } from "../../core/text/mention.ts";
import { type AttachedImage, imageTypeOf, MAX_IMAGE_BYTES, MAX_IMAGES } from "../../core/vocabulary/image.ts";
import { readRegularFile } from "../../runtime/disk/regular-file.ts";

/** `--image FILE`, which may be given several times. */
export const imageOption = (): Option =>
  new Option("--image <file>", "an image that the model sees with the prompt; may be repeated")
    .argParser((file: string, before: readonly string[] | undefined) => [...(before ?? []), file])
    .helpGroup("Work:");

/** The images of a message: the given files, and the files that the text mentions after `@`. */
export async function imagesFor(
  text: string,
  { files = [], cwd }: Readonly<{ files?: readonly string[] | undefined; cwd: string }>,
): Promise<AttachedImage[]> {
  const mentioned = mentionsIn(text).flatMap((name) => imageFile(name, cwd) ?? []);
  const all = [...new Set([...files.map((file) => pathOf(file, cwd)), ...mentioned])];
  if (all.length > MAX_IMAGES)
    throw new CrewError(
      "BAD_INPUT",
      `A message can have at most ${MAX_IMAGES} images, and this one has ${all.length}.`,
      "Send the images in several messages.",
    );
  return Promise.all(all.map(readImage));
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
  file.startsWith("~/") ? join(homedir(), file.slice(2)) : resolve(cwd, file);

async function readImage(file: string): Promise<AttachedImage> {
  const bytes = await readRegularFile(file).catch((error: unknown) => {
    throw new CrewError("BAD_FILE", `The image "${file}" cannot be read: ${messageOf(error)}.`, "Name another file.");
  });
  const type = imageTypeOf(bytes);
  if (type === undefined)
    throw new CrewError(
      "BAD_FILE",
      `"${file}" is not an image that models take.`,
      "Convert the file to PNG, JPEG, GIF or WebP.",
    );
  if (bytes.length > MAX_IMAGE_BYTES)
    throw new CrewError(
      "BAD_FILE",
      `The image "${file}" has ${(bytes.length / 1e6).toFixed(1)} MB, and models take at most ${MAX_IMAGE_BYTES / 1e6} MB.`,
      "Make the image smaller.",
    );
  return { name: basename(file), type, data: bytes.toString("base64") };
}
