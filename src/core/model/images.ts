import type { ImageType } from "../vocabulary/image.ts";

/** An image in a message to a model; `data` is base64. */
export type ImageContent = Readonly<{ name: string; type: ImageType; data: string }>;

/**
 * The number of characters that an image counts as in a conversation: providers charge about 1,600 tokens for a large
 * image.
 */
export const IMAGE_CHARS = 5_600;

/** Whether models take images, by their ids; the first matching row is used. */
const models: readonly Readonly<{ id: RegExp; takes: boolean }>[] = [
  { id: /^(offline|a2a)$/, takes: false },
  {
    id: /(^|[-/:._\d])(vl|vision|visual|multimodal|omni)([-/:._\d]|$)|llava|pixtral|moondream|minicpm-v|bakllava/,
    takes: true,
  },
  { id: /claude-(instant|2|1)/, takes: false },
  { id: /claude/, takes: true },
  { id: /gpt-oss|gpt-3|gpt-4(-0314|-0613|-32k.*)?$|(^|\/)o[13]-mini|audio|davinci|babbage/, takes: false },
  { id: /gpt-[4-9]|chatgpt-4o|(^|\/)o[1-9](-|$)|computer-use/, takes: true },
  { id: /gemini-1\.0-pro$|gemini-pro$|gemma-?[12](?!\d)|gemma-?3n?[:-](270m|1b)/, takes: false },
  { id: /gemini|gemma-?3|gemma-?[4-9]/, takes: true },
  { id: /grok-[4-9]/, takes: true },
  { id: /grok/, takes: false },
  { id: /llama-?4/, takes: true },
  { id: /llama|codellama/, takes: false },
  {
    id: /deepseek|codestral|devstral|mixtral|magistral|open-mistral|mistral-nemo|mistral:?(7b|latest|instruct)/,
    takes: false,
  },
  {
    id: /qwen|qwq|kimi-k2$|kimi-k2-|glm-4\.[5-7](?!v)|starcoder|granite|phi-?[1-4](?!.*vision)|command-r/,
    takes: false,
  },
];

/** Whether a model takes images; `undefined`: only its provider knows. */
export function takesImages(id: string): boolean | undefined {
  return models.find((row) => row.id.test(id.toLowerCase()))?.takes;
}
