import type { Context, Span } from "@opentelemetry/api";
import type { Outcome } from "../core/outcome/outcome.ts";
import type { Event, KeptEvent } from "../core/run/event.ts";
import { isKept } from "../core/run/kept-event.ts";
import { CrewError } from "../core/schema/error.ts";
import { defined } from "../core/text/defined.ts";
import { jsonText } from "../core/text/json-text.ts";
import { version } from "../core/text/version.ts";

/** Where OpenTelemetry spans are sent, and whether they contain prompts, answers, arguments and results. */
export type TelemetryOptions = Readonly<{ otlp: string; content?: boolean | undefined }>;

/** Turns the events of one run into OpenTelemetry spans, named by the conventions for generative AI. */
export type TelemetrySink = Readonly<{
  take(event: Event): void;
  /** Ends the open spans and sends the rest. Returns after a few seconds even if the receiver does not respond. */
  end(): Promise<void>;
}>;

/** The longest wait for the receiver at the end of a run. */
const FLUSH_MS = 3_000;

/** Opens the sink. The OpenTelemetry libraries are loaded only by this call, when telemetry is configured. */
export async function openTelemetry({ otlp, content = false }: TelemetryOptions): Promise<TelemetrySink> {
  const { api, sdk, exporter, resources } = await loadTelemetry();
  const provider = new sdk.BasicTracerProvider({
    resource: resources.resourceFromAttributes({ "service.name": "subcrew", "service.version": version }),
    spanProcessors: [new sdk.BatchSpanProcessor(new exporter.OTLPTraceExporter({ url: tracesUrl(otlp) }))],
  });
  const tracer = provider.getTracer("subcrew", version);
  /**
   * The open spans. The span of the run has the key "", the span of a task has its path, and spans of model turns and
   * tool calls have `path#key`.
   */
  const open = new Map<string, Span>();
  const begin = (key: string, name: string, above: string | undefined, event: KeptEvent, facts: Facts): void => {
    if (open.has(key)) return;
    const parent = above === undefined ? undefined : open.get(above);
    const context: Context = parent ? api.trace.setSpan(api.ROOT_CONTEXT, parent) : api.ROOT_CONTEXT;
    const attributes = { "gen_ai.conversation.id": event.run, ...defined(facts) };
    open.set(key, tracer.startSpan(name, { startTime: event.at, attributes }, context));
  };
  const close = (
    key: string,
    at: number,
    facts: Facts = {},
    failure?: Readonly<{ type: string; text: string }>,
  ): void => {
    const span = open.get(key);
    if (!span) return;
    span.setAttributes({ ...defined(facts), ...(failure && { "error.type": failure.type }) });
    if (failure) span.setStatus({ code: api.SpanStatusCode.ERROR, ...(content && { message: failure.text }) });
    span.end(at);
    open.delete(key);
  };
  const closeBelow = (path: string, at: number): void => {
    for (const key of [...open.keys()].toReversed()) if (key.startsWith(`${path}#`)) close(key, at);
  };
  const whole = (value: unknown): string | undefined => (content ? jsonText(value) : undefined);

  const take = (event: KeptEvent): void => {
    const { path, at } = event;
    switch (event.type) {
      case "run.started":
      case "run.resumed":
        return begin("", "subcrew.run", undefined, event, {
          "subcrew.run.name": event.type === "run.started" ? event.name : undefined,
        });
      case "node.started":
        if (event.kind === "join") return undefined;
        return begin(path, taskName(event), parentOf(path, open), event, {
          "gen_ai.operation.name": event.kind === "task" ? "invoke_agent" : undefined,
          "gen_ai.agent.name": event.agent,
          "subcrew.task.path": path,
          "subcrew.task.kind": event.kind,
          "gen_ai.input.messages": whole([{ role: "user", parts: [{ type: "text", content: event.prompt ?? "" }] }]),
        });
      case "turn.started":
        return begin(`${path}#turn`, `chat ${event.model}`, path, event, {
          "gen_ai.operation.name": "chat",
          "gen_ai.provider.name": providerOf(event.model),
          "gen_ai.request.model": event.model,
        });
      case "turn.ended":
        return close(`${path}#turn`, at, {
          "gen_ai.response.model": event.model,
          "gen_ai.usage.input_tokens": event.usage.input + event.usage.cacheRead + event.usage.cacheWrite,
          "gen_ai.usage.output_tokens": event.usage.output,
          "gen_ai.usage.cache_read.input_tokens": event.usage.cacheRead,
          "gen_ai.usage.cache_creation.input_tokens": event.usage.cacheWrite,
          "subcrew.cost.usd": event.cost.usd,
          "gen_ai.output.messages": whole([{ role: "assistant", parts: partsOf(event) }]),
        });
      case "tool.started":
        return begin(`${path}#${event.call}`, `execute_tool ${event.tool}`, path, event, {
          "gen_ai.operation.name": "execute_tool",
          "gen_ai.tool.name": event.tool,
          "gen_ai.tool.call.id": event.call,
          "gen_ai.tool.call.arguments": content ? event.preview : undefined,
        });
      case "tool.ended":
        return close(
          `${path}#${event.call}`,
          at,
          { "gen_ai.tool.call.result": content ? event.text : undefined },
          event.error ? { type: "tool_error", text: event.text } : undefined,
        );
      case "node.ended":
        closeBelow(path, at);
        return close(path, at, { "subcrew.outcome": event.outcome.status }, failureOf(event.outcome));
      case "run.ended":
        return close("", at, { "subcrew.outcome": event.outcome.status }, failureOf(event.outcome));
      default:
        return undefined;
    }
  };
  let last = 0;
  return {
    take: (event) => {
      last = event.at;
      if (isKept(event)) take(event);
    },
    end: async () => {
      for (const key of [...open.keys()].toReversed()) close(key, last);
      const late = new AbortController();
      const patience = new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, FLUSH_MS);
        late.signal.addEventListener("abort", () => clearTimeout(timer));
      });
      await Promise.race([provider.shutdown().catch(() => {}), patience]);
      late.abort();
    },
  };
}

type Facts = Readonly<Record<string, string | number | undefined>>;

/** Loads the libraries; throws if they are not installed. */
export async function loadTelemetry(): Promise<
  Readonly<{
    api: typeof import("@opentelemetry/api");
    sdk: typeof import("@opentelemetry/sdk-trace-base");
    exporter: typeof import("@opentelemetry/exporter-trace-otlp-http");
    resources: typeof import("@opentelemetry/resources");
  }>
> {
  try {
    const [api, sdk, exporter, resources] = await Promise.all([
      import("@opentelemetry/api"),
      import("@opentelemetry/sdk-trace-base"),
      import("@opentelemetry/exporter-trace-otlp-http"),
      import("@opentelemetry/resources"),
    ]);
    return { api, sdk, exporter, resources };
  } catch (cause) {
    throw new CrewError(
      "MISSING_PEER",
      "Telemetry is configured, but its libraries are not installed.",
      "Install the libraries with `npm install @opentelemetry/api @opentelemetry/resources @opentelemetry/sdk-trace-base @opentelemetry/exporter-trace-otlp-http`, or remove `telemetry` from the settings.",
      { cause },
    );
  }
}

const tracesUrl = (otlp: string): string =>
  /\/v1\/traces\/?$/.test(otlp) ? otlp : `${otlp.replace(/\/+$/, "")}/v1/traces`;

const taskName = ({ kind, agent, path }: Extract<KeptEvent, { type: "node.started" }>): string =>
  kind === "task" ? `invoke_agent ${agent ?? path}` : `${kind} ${path}`;

/**
 * The parent span of a task: the span of `build` for `build.2/review`, of `lead` for `lead.2/scout`, otherwise the span
 * of the run.
 */
function parentOf(path: string, open: ReadonlyMap<string, unknown>): string {
  for (let cut = path.lastIndexOf("/"); cut > 0; cut = path.lastIndexOf("/", cut - 1)) {
    const above = path.slice(0, cut);
    for (const name of [above, above.replace(/\.\d+$/, "")]) if (open.has(name)) return name;
  }
  return "";
}

/** The provider's name as the OpenTelemetry conventions spell it. */
function providerOf(model: string): string {
  const [provider = ""] = model.split(/[/:]/, 1);
  return provider === "google" ? "gcp.gemini" : provider;
}

function partsOf({ text, calls }: Extract<KeptEvent, { type: "turn.ended" }>): unknown[] {
  return [
    ...(text === "" ? [] : [{ type: "text", content: text }]),
    ...calls.map(({ id, name, input }) => ({ type: "tool_call", id, name, arguments: input })),
  ];
}

function failureOf(outcome: Outcome): Readonly<{ type: string; text: string }> | undefined {
  return outcome.status === "failed" ? { type: outcome.fault.code, text: outcome.fault.message } : undefined;
}
