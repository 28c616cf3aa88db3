/** The idle timeout expired: nothing was received during that time. */
export class SilentError extends Error {
  readonly ms: number;
  constructor(ms: number) {
    super(`no data for ${Math.round(ms / 1_000)} s`);
    this.name = "SilentError";
    this.ms = ms;
  }
}
