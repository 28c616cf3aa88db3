import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { tempFolder } from "./temp-folder.ts";

/** A self-signed certificate for `secure.test`, its key, and its file. */
export function certificate(): Readonly<{ key: string; cert: string; file: string }> {
  const folder = tempFolder();
  const [key, file] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const subject = ["-subj", "/CN=secure.test", "-addext", "subjectAltName=DNS:secure.test"];
  const made = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  execFileSync("openssl", [...made, "-keyout", key, "-out", file, ...subject], { stdio: "ignore" });
  return { key: readFileSync(key, "utf8"), cert: readFileSync(file, "utf8"), file };
}
