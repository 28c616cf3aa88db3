import type { Feature } from "../runtime/features/feature.ts";
import { runFeatures } from "../runtime/features/features.ts";
import { hooksFeature } from "./hooks.ts";
import { telemetryFeature } from "./telemetry.ts";

/** Everything that a run of a crew does beside executing its plan; the first row is outside of all others. */
export const features: readonly Feature[] = [telemetryFeature, hooksFeature, ...runFeatures];
