import { CrewError, messageOf } from "../../core/schema/error.ts";

/** Node's error codes for certificates. */
const CERTIFICATE = /^(?:ERR_TLS|CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO)|certificate/i;

/** Converts a refusal of the database to a readable error; other errors are returned unchanged. */
export function explainRefusal(error: unknown, shown: string): unknown {
  if (!(error instanceof Error)) return error;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  const said = messageOf(error);
  if (CERTIFICATE.test(code))
    return new CrewError(
      "ENGINE_UNREACHABLE",
      `The certificate of the engine at ${shown} is not accepted: ${said}.`,
      "Add the CA certificate to the URL: ?sslmode=verify-full&sslrootcert=FILE.",
      { cause: error },
    );
  if (/does not support SSL/i.test(said))
    return new CrewError(
      "ENGINE_UNREACHABLE",
      `The engine at ${shown} does not encrypt connections, and the address demands encryption (sslmode).`,
      "Enable TLS in the database, or remove sslmode from the address.",
      { cause: error },
    );
  if (code.startsWith("28"))
    return new CrewError(
      "LOGIN_FAILED",
      `The engine at ${shown} refuses the login: ${said}.`,
      "Check the user and the password in the address.",
      { cause: error },
    );
  if (code === "3D000")
    return new CrewError(
      "ENGINE_UNREACHABLE",
      `The database at ${shown} does not exist: ${said}.`,
      "Create the database (createdb NAME), then run `subcrew engine migrate`.",
      { cause: error },
    );
  if (code === "42501")
    return new CrewError(
      "LOGIN_FAILED",
      `The login of ${shown} lacks a permission in the database: ${said}.`,
      "Use a login of another role: subcrew_worker for workers, subcrew_coordinator for runs, the owner of the tables to migrate.",
      { cause: error },
    );
  return error;
}
