/** Context window in tokens that is assumed for a model whose window is not known. */
export const DEFAULT_CONTEXT_WINDOW = 128_000;

/** Context window in tokens by model id; the first matching row is used. */
const windows: readonly Readonly<{ id: RegExp; tokens: number }>[] = [
  { id: /claude-(opus-(4-[6-9]|[5-9])|sonnet-(4-[6-9]|[5-9])|fable|haiku-[5-9])/, tokens: 1_000_000 },
  { id: /claude-(opus-4\.[6-9]|opus-[5-9]|sonnet-4\.[6-9]|sonnet-[5-9])/, tokens: 1_000_000 },
  { id: /claude/, tokens: 200_000 },
  { id: /gpt-oss/, tokens: 131_072 },
  { id: /gpt-5\.3$/, tokens: 128_000 },
  { id: /gpt-5\.4-(mini|nano)/, tokens: 400_000 },
  { id: /gpt-(5\.[4-9]|[6-9])/, tokens: 1_000_000 },
  { id: /gpt-5/, tokens: 400_000 },
  { id: /gpt-4\.1/, tokens: 1_000_000 },
  { id: /gpt-4o|gpt-4-turbo/, tokens: 128_000 },
  { id: /(^|\/)o[1-9](-|$)/, tokens: 200_000 },
  { id: /gemini-/, tokens: 1_000_000 },
  { id: /grok-4/, tokens: 256_000 },
  { id: /deepseek-v4/, tokens: 1_000_000 },
  { id: /deepseek-v3/, tokens: 128_000 },
  { id: /deepseek/, tokens: 64_000 },
  { id: /mistral-(large|medium|small)|devstral|codestral/, tokens: 131_072 },
];

/** Context window in tokens; `undefined` when unknown. */
export function contextWindow(id: string): number | undefined {
  return windows.find((row) => row.id.test(id))?.tokens;
}
