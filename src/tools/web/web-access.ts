import type { Subject } from "../../core/rules/call-subject.ts";
import type { ToolContext } from "../../core/task/tool.ts";
import type { WebRequest } from "../../runtime/network/guarded-fetch.ts";
import { webRefusal } from "../../runtime/network/web-target.ts";

/** The subject of a web request that permission rules judge: its URL. */
export const webSubjects = ({ url }: { url: string }): readonly Subject[] => [{ kind: "url", url }];

/**
 * Judges redirects of a request by the same rules as the first address, so that a server cannot redirect to a forbidden
 * address.
 */
export function ruled({ access }: ToolContext): Pick<WebRequest, "check"> {
  if (!access) return {};
  return {
    check: (url) => {
      const { decision, rule } = access.check({ kind: "url", url });
      if (decision !== "allow")
        throw webRefusal(
          "REDIRECT",
          `the server redirected to ${new URL(url).origin}, which is not allowed here (${rule})`,
        );
    },
  };
}
