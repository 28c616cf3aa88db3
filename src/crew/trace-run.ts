import type { Config } from "../core/config/config.ts";
import type { Drive } from "../runtime/run/run.ts";

/** Executes a run and, where telemetry is configured, exports its events as traces. */
export async function traceRun(
  telemetry: Config["telemetry"],
  it: Drive,
  work: (it: Drive) => Promise<void>,
  { resumed = false }: Readonly<{ resumed?: boolean }> = {},
): Promise<void> {
  if (telemetry === undefined) return work(it);
  const { openTelemetry } = await import("../sinks/otel.ts");
  const sink = await openTelemetry(telemetry);
  let begun = !resumed; // earlier events were already exported by the process that recorded them
  const publish: Drive["publish"] = (event) => {
    begun ||= event.type === "run.resumed";
    if (begun) sink.take(event);
    it.publish(event);
  };
  try {
    await work({ run: it.run, signal: it.signal, state: it.state, connect: it.connect, publish });
  } finally {
    await sink.end();
  }
}
