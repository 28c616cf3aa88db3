import { z } from "zod";

export const artifact = z.strictObject({ hash: z.string(), bytes: z.number().int().nonnegative() });
/** A reference to content in the run's store, by its hash. */
export type Artifact = Readonly<z.infer<typeof artifact>>;
