import type { Feature } from "../runtime/features/feature.ts";

export const telemetryFeature: Feature = {
  name: "telemetry",
  does: "exports the events of the run as traces, if the settings name a place for them",
  check: async ({ settings }) => {
    if (settings?.telemetry !== undefined) await (await import("../sinks/otel.ts")).loadTelemetry();
  },
  open: async ({ settings }) => {
    if (settings?.telemetry === undefined) return {};
    const { openTelemetry } = await import("../sinks/otel.ts");
    const sink = await openTelemetry(settings.telemetry);
    return {
      publish: (inner) => (event) => {
        sink.take(event);
        inner(event);
      },
      closed: () => sink.end(),
    };
  },
};
