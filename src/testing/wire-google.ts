import { defined } from "../core/text/defined.ts";
import { argumentsOf, piecesOf, SOME_USAGE, type SpokenTurn } from "./provider-turn.ts";
import { type AnswerFacts, data, type ProviderDialect } from "./wire.ts";

const PATH = /\/models\/([^/:]+):(streamGenerateContent|generateContent)$/;

/** The generateContent API of Google, for the simulated provider. */
export const google: ProviderDialect = {
  name: "google",
  matches: (path) => PATH.test(path),
  asks: (_, path) => {
    const [, model = "", verb] = PATH.exec(path) ?? [];
    return { model, stream: verb === "streamGenerateContent" };
  },
  events: (turn, about) => {
    const parts = partsOf(turn, about);
    const last = parts.pop();
    return [
      ...parts.map((part) => data(answer([part], about))),
      data({ ...answer(last === undefined ? [] : [last], about, finishOf(turn)), usageMetadata: usageOf(turn) }),
    ];
  },
  whole: (turn, about) => ({ ...answer(partsOf(turn, about), about, finishOf(turn)), usageMetadata: usageOf(turn) }),
  error: ({ status, message }) => ({ error: { code: status, message, status: statusNames[status] ?? "INTERNAL" } }),
  errorEvent: ({ message = "The model is overloaded." }) =>
    data({ error: { code: 503, message, status: "UNAVAILABLE" } }),
};

const statusNames: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  429: "RESOURCE_EXHAUSTED",
  503: "UNAVAILABLE",
};

function answer(parts: readonly object[], { model, n }: AnswerFacts, finishReason?: string): object {
  const candidate = {
    content: { role: "model", parts },
    index: 0,
    ...defined({ finishReason }),
  };
  return { candidates: [candidate], modelVersion: model, responseId: `resp-${n}` };
}

function partsOf(turn: SpokenTurn, { n }: AnswerFacts): object[] {
  return [
    ...(turn.thinking === undefined ? [] : [{ text: turn.thinking, thought: true }]),
    ...piecesOf(turn.text).map((text) => ({ text })),
    ...(turn.calls ?? []).map((call) => ({
      functionCall: { name: call.name, args: argumentsFrom(argumentsOf(call)) },
      thoughtSignature: `signed-${n}`,
    })),
  ];
}

/** The arguments of a call as a value; invalid arguments become a value that is not an object. */
function argumentsFrom(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function finishOf({ finish = "done" }: SpokenTurn): string {
  return { done: "STOP", length: "MAX_TOKENS", filter: "SAFETY" }[finish];
}

function usageOf({ usage = SOME_USAGE }: SpokenTurn): object {
  const { input, output, cacheRead = 0, cacheWrite = 0, reasoning = 0 } = usage;
  const promptTokenCount = input + cacheRead + cacheWrite;
  return {
    promptTokenCount,
    candidatesTokenCount: output - reasoning,
    thoughtsTokenCount: reasoning,
    cachedContentTokenCount: cacheRead,
    totalTokenCount: promptTokenCount + output,
  };
}
