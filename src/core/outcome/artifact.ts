/** Content that a store keeps: it is the same wherever it is read. */
export type Artifact = Readonly<{ hash: string; bytes: number }>;
