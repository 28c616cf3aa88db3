import { z } from "zod";

/** The image formats that every provider takes. */
export const imageTypes = ["image/png", "image/jpeg", "image/gif", "image/webp"] as const;
export type ImageType = (typeof imageTypes)[number];

/** The largest image that every provider takes, and how many a message may have. */
export const MAX_IMAGE_BYTES = 3_750_000;
export const MAX_IMAGES = 20;
const MAX_IMAGE_CHARS = Math.ceil(MAX_IMAGE_BYTES / 3) * 4;

/** The names of stored images begin with this text; a hash of the content follows. */
export const IMAGE_PREFIX = "image-";

/** An image beside a prompt: its content, or the name under which the run stores it. */
export const attachedImage = z
  .strictObject({
    name: z.string().min(1).max(500).describe("what the image is called, such as the name of its file"),
    type: z.enum(imageTypes).describe("the format"),
    data: z
      .string()
      .max(MAX_IMAGE_CHARS)
      .regex(/^[A-Za-z0-9+/]+={0,2}$/, "an image is given in base64")
      .optional()
      .describe("the content in base64"),
    kept: z
      .string()
      .regex(new RegExp(`^${IMAGE_PREFIX}[0-9a-f]{64}$`))
      .optional()
      .describe("where the run keeps the content; set by the run itself"),
  })
  .refine(({ data, kept }) => (data === undefined) !== (kept === undefined), "an image has either `data` or `kept`");
export type AttachedImage = z.infer<typeof attachedImage>;

export const attachedImages = z.array(attachedImage).max(MAX_IMAGES);

/** The format of an image by its first bytes; `undefined`: the image has no format that providers accept. */
export function imageTypeOf(bytes: Uint8Array): ImageType | undefined {
  return formats.find(({ starts }) => starts.every(([at, text]) => startsAt(bytes, at, text)))?.type;
}

const formats: readonly Readonly<{ type: ImageType; starts: readonly (readonly [at: number, text: string])[] }>[] = [
  { type: "image/png", starts: [[0, "\u0089PNG\r\n\u001a\n"]] },
  { type: "image/jpeg", starts: [[0, "\u00ff\u00d8\u00ff"]] },
  { type: "image/gif", starts: [[0, "GIF8"]] },
  {
    type: "image/webp",
    starts: [
      [0, "RIFF"],
      [8, "WEBP"],
    ],
  },
];

const startsAt = (bytes: Uint8Array, at: number, text: string): boolean =>
  Array.from(text).every((char, index) => bytes[at + index] === char.charCodeAt(0));
