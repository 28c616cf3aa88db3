import { createRedactor, type Redactor } from "../../core/secrets/redact.ts";
import type { Credentials } from "./a2a-auth.ts";

/** Removes the secrets that were sent to a remote agent from everything that it answers. */
export class SentSecrets {
  /** The credentials for the agent, once they are known. */
  credentials: Credentials | undefined;
  #count = 0;
  #redactor: Redactor = createRedactor([]);

  clean(text: string): string {
    return this.#current().known(text);
  }

  cleanDeep<T>(value: T): T {
    return this.#current().knownDeep(value);
  }

  #current(): Redactor {
    const secrets = this.credentials?.secrets ?? new Set();
    if (secrets.size !== this.#count) this.#redactor = createRedactor([...secrets]);
    this.#count = secrets.size;
    return this.#redactor;
  }
}
