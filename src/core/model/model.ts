import type { ImageContent } from "./images.ts";
import type { Fault } from "../outcome/outcome.ts";
import type { JsonSchema } from "../text/json.ts";
import type { Thinking } from "../vocabulary/thinking.ts";

/**
 * One turn of a model: takes a request and streams the answer. It never throws: an error is the last event of the
 * stream.
 */
export type Model = (request: ModelRequest, signal: AbortSignal) => AsyncIterable<ModelEvent>;

export type ModelRequest = Readonly<{
  /** The id under which the provider knows the model. */
  model: string;
  system: string;
  messages: readonly Message[];
  tools: readonly ToolSpec[];
  /**
   * Whether the model may or must call a tool. `none`: it must not; `required`: it must call some tool; a name: it must
   * call the tool of that name. Where a provider or thinking does not allow the choice, `auto` is sent.
   */
  toolChoice: "auto" | "none" | "required" | Readonly<{ tool: string }>;
  thinking?: Thinking;
  temperature?: number;
  topP?: number;
  maxOutputTokens?: number;
  /**
   * The beginning of the prompt that requests of other tasks share: its key for the provider's cache, and its length.
   */
  prefix?: Readonly<{ key: string; chars: number }>;
}>;

/** A tool as a model sees it. */
export type ToolSpec = Readonly<{ name: string; description: string; input: JsonSchema }>;

export type Message =
  | Readonly<{
      role: "user";
      text: string;
      /** Images that belong to the text of a message. */
      images?: readonly ImageContent[];
      /**
       * Length of the text's beginning that other tasks share; it is sent as a separate block to providers that cache.
       */
      shared?: number;
      /**
       * True: a request of another task ended with this message, so the provider's cache holds everything up to and
       * including it.
       */
      cacheMark?: true;
    }>
  | Readonly<{ role: "assistant"; text: string; calls: readonly ToolCall[]; carry?: ProviderData }>
  | Readonly<{ role: "tool"; results: readonly ToolAnswer[]; cacheMark?: true }>;

/**
 * Provider data that must be sent back with a message, such as signed thinking. Only the same provider can read it; a
 * message that is changed loses it.
 */
export type ProviderData = Readonly<{ by: string; data: unknown }>;

export type ToolCall = Readonly<{ id: string; name: string; input: unknown }>;
export type ToolAnswer = Readonly<{
  id: string;
  name: string;
  text: string;
  error: boolean;
  /** Images in a tool result, for a model that accepts them. */
  images?: readonly ImageContent[];
  /** True: the tool call was not permitted. */
  denied?: true;
}>;

export type ModelEvent =
  | Readonly<{ type: "text"; text: string }>
  | Readonly<{ type: "thinking"; text: string }>
  | Readonly<{ type: "call"; call: ToolCall }>
  /** A notice during a turn: a retry, a switch to another model, or work that the offline model cannot do. */
  | Readonly<{ type: "notice"; code: "MODEL_RETRY" | "MODEL_FALLBACK" | "MODEL_CUT" | "MODEL_OFFLINE"; text: string }>
  | Readonly<{
      type: "end";
      usage: TurnUsage;
      cost?: number;
      /**
       * The dollars that the provider's cache saved; negative when writing to the cache cost more than reading saved.
       */
      saved?: number;
      carry?: ProviderData;
      /** The model that answered, if it is not the requested model. */
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
