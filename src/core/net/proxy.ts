/** The environment variables. */
type Env = Readonly<Record<string, string | undefined>>;

/** The variables with which users set a proxy, and certificate authorities of their own. */
export const proxyVariables: readonly string[] = [
  ...["HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY"].flatMap((name) => [name, name.toLowerCase()]),
  "NODE_EXTRA_CA_CERTS",
  "SSL_CERT_FILE",
];

/**
 * The proxy for an address, by the variables that programs agree on: `HTTPS_PROXY` or `HTTP_PROXY`, else `ALL_PROXY`,
 * in upper or lower case, unless `NO_PROXY` names the host. A proxy in the settings replaces `HTTPS_PROXY`,
 * `HTTP_PROXY` and `ALL_PROXY`. This machine is never contacted through a proxy.
 */
export function proxyFor(address: string, env: Env, setting?: string): string | undefined {
  const { protocol, hostname, port } = new URL(address);
  const proxy = setting ?? named(env, protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY") ?? named(env, "ALL_PROXY");
  if (proxy === undefined || isHere(hostname)) return undefined;
  const at = { hostname, port: port || (protocol === "https:" ? "443" : "80") };
  const isExcepted = (named(env, "NO_PROXY") ?? "").split(/[\s,]+/).some((entry) => covers(entry, at));
  return isExcepted ? undefined : withProtocol(proxy);
}

/**
 * The value of a variable. In CGI programs (recognised by REQUEST_METHOD), `HTTP_PROXY` comes from a request header and
 * is ignored (httpoxy).
 */
function named(env: Env, name: string): string | undefined {
  const forged = name === "HTTP_PROXY" && env["REQUEST_METHOD"] !== undefined;
  const value = env[name.toLowerCase()] || (forged ? "" : env[name]);
  return value === undefined || value === "" ? undefined : value;
}

const isHere = (host: string): boolean =>
  host === "localhost" || host.endsWith(".localhost") || host === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(host);

/**
 * Whether an entry of `NO_PROXY` names the host. `example.com` and `.example.com` both mean the host and all hosts
 * below it; an entry with a port means only that port; `*` means every host.
 */
function covers(entry: string, at: Readonly<{ hostname: string; port: string }>): boolean {
  if (entry === "") return false;
  if (entry === "*") return true;
  const [, host = entry, port] = /^(.*?)(?::(\d+))?$/.exec(entry.toLowerCase()) ?? [];
  const name = host.replace(/^\*?\./, "");
  const bare = at.hostname.replace(/^\[|\]$/g, "");
  return (port === undefined || port === at.port) && (bare === name || bare.endsWith(`.${name}`));
}

const withProtocol = (proxy: string): string => (/^[a-z]+:\/\//i.test(proxy) ? proxy : `http://${proxy}`);
