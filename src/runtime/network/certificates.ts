import { rootCertificates } from "node:tls";
import { CrewError } from "../../core/schema/error.ts";
import { readRegularTextSync } from "../disk/regular-file.ts";

/** Where a user names certificate authorities. */
export type CertificateSources = Readonly<{
  /** A PEM file that the settings name. */
  caFile?: string | undefined;
  env?: Readonly<Record<string, string | undefined>> | undefined;
}>;

/**
 * Environment variables that name a file of certificate authorities. Node reads the first variable itself, but not when
 * it is given a list of authorities.
 */
const VARIABLES = ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE"] as const;

/**
 * The accepted certificate authorities: the usual authorities and the user's. `undefined`: only the usual ones, so
 * connections need no option. A file that a variable names and that cannot be read is ignored, as other programs do.
 */
export function certificateAuthorities({ caFile, env = {} }: CertificateSources): readonly string[] | undefined {
  const own = caFile === undefined ? [] : [settingsFile(caFile)];
  const named = VARIABLES.flatMap((variable) => {
    const file = env[variable];
    return file === undefined || file === "" ? [] : (certificatesIn(file) ?? []);
  });
  return own.length + named.length === 0 ? undefined : [...rootCertificates, ...own, ...named];
}

function settingsFile(file: string): string {
  const text = certificatesIn(file);
  if (text !== undefined) return text;
  throw new CrewError(
    "BAD_INPUT",
    `"${file}" contains no certificates.`,
    "Give `network.caFile` the path of a readable PEM file.",
  );
}

function certificatesIn(file: string): string | undefined {
  try {
    const text = readRegularTextSync(file);
    return text.includes("-----BEGIN CERTIFICATE-----") ? text : undefined;
  } catch {
    return undefined;
  }
}
