import type { Fault } from "../outcome/outcome.ts";
import type { JsonSchema } from "../text/json.ts";
import type { Thinking } from "../vocabulary/thinking.ts";

/** One provider turn. It never throws: what goes wrong is the last event of the stream. */
export type Model = (request: ModelRequest, signal: AbortSignal) => AsyncIterable<ModelEvent>;

export type ModelRequest = Readonly<{
  /** The id that the provider knows. */
  model: string;
  system: string;
  messages: readonly Message[];
  tools: readonly ToolSpec[];
  /** `required`: answer with a tool call; a name: with that one. */
  toolChoice: "auto" | "required" | Readonly<{ tool: string }>;
  thinking?: Thinking;
  temperature?: number;
  topP?: number;
  maxOutputTokens?: number;
  /** What it has in common with requests of other tasks: a name for that beginning, and how long it is. */
  prefix?: Readonly<{ key: string; chars: number }>;
}>;

/** A tool as a model sees it. */
export type ToolSpec = Readonly<{ name: string; description: string; input: JsonSchema }>;

export type Message =
  | Readonly<{
      role: "user";
      text: string;
      /** How many characters at its beginning other tasks are told, too: a block of its own where providers cache. */
      shared?: number;
      /** A request of another task ended with it: what precedes and it are in the provider's cache. */
      cacheMark?: true;
    }>
  | Readonly<{ role: "assistant"; text: string; calls: readonly ToolCall[]; carry?: ProviderData }>
  | Readonly<{ role: "tool"; results: readonly ToolAnswer[]; cacheMark?: true }>;

/**
 * What a provider wants to see again with a message: signed thinking and the like. Only whoever gave it can read it; a
 * message that is changed loses it.
 */
export type ProviderData = Readonly<{ by: string; data: unknown }>;

export type ToolCall = Readonly<{ id: string; name: string; input: unknown }>;
export type ToolAnswer = Readonly<{
  id: string;
  name: string;
  text: string;
  error: boolean;
  /** Set when the call was not permitted. */
  denied?: true;
}>;

export type ModelEvent =
  | Readonly<{ type: "text"; text: string }>
  | Readonly<{ type: "thinking"; text: string }>
  | Readonly<{ type: "call"; call: ToolCall }>
  /** Said while a turn goes on: that it is tried again, or on another model. */
  | Readonly<{ type: "notice"; code: "MODEL_RETRY" | "MODEL_FALLBACK" | "MODEL_CUT"; text: string }>
  | Readonly<{
      type: "end";
      usage: TurnUsage;
      cost?: number;
      /** What the provider's cache saved in dollars; negative for a turn that wrote more than it read. */
      saved?: number;
      carry?: ProviderData;
      /** The model that answered, when it is another. */
      model?: string;
    }>
  | Readonly<{ type: "error"; fault: Fault }>;

/** Tokens of one turn, as the provider counted them. */
export type TurnUsage = Readonly<{
  input: number;
  output: number;
  cacheRead?: number;
  cacheWrite?: number;
  reasoning?: number;
}>;
