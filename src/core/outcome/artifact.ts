/** A reference to content in the run's store, by its hash. */
export type Artifact = Readonly<{ hash: string; bytes: number }>;
