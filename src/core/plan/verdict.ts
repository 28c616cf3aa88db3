/**
 * The verdict in the value of a field or label of a review, as in `verdict: approved (one nit)`; `undefined` when there
 * is none.
 */
export function verdictOfValue(value: unknown): boolean | undefined {
  if (typeof value === "boolean") return value;
  if (value === 0 || value === 1) return value === 1;
  if (typeof value !== "string" || value.length > 2 * LINE_CHARS) return undefined;
  const text = plain(value);
  const word = wordOf(text);
  const known = VERDICTS.get(word);
  if (known !== undefined) return known;
  const [first = ""] = text.split(/[\s,;:.!()[\]|–—-]+/).filter((each) => each !== "");
  if (NEGATIONS.has(wordOf(first))) return false;
  if (APPROVES.test(text)) return isApproval(text);
  const leading = VERDICTS.get(wordOf(first));
  return leading === true && RESERVES.test(text) ? false : leading;
}

/** The verdict of a line that contains nothing else; `undefined` for any other line. */
export const verdictOfLine = (line: string): boolean | undefined =>
  line.length > LINE_CHARS ? undefined : BARE.get(wordOf(plain(line)));

/** The verdict of a line in the middle of a text. Only words count that are used for nothing but verdicts. */
export const verdictOfLoneLine = (line: string): boolean | undefined =>
  line.length > LINE_CHARS ? undefined : MARKED.get(wordOf(plain(line)));

/** Maximum length of a verdict line; longer lines contain more than a verdict. */
const LINE_CHARS = 120;

/** True when a text asks for another round of work. */
export const asksForRevision = (text: string): boolean => REVISION.test(plain(text).replace(NO_REVISION, " "));

/**
 * True when running text says that the work is approved. One sentence has to say so, and no sentence may take it back,
 * deny it, ask about it, quote or report it, or make it depend on a condition.
 */
export function isApproval(text: string): boolean {
  if (asksForRevision(text)) return false;
  const sentences = plain(text)
    .split(/(?<=[.!?;\n])(?=\s|$)/)
    .filter((sentence) => APPROVES.test(sentence));
  return sentences.length > 0 && sentences.every((sentence) => !isDoubted(sentence));
}

function isDoubted(sentence: string): boolean {
  if (RESERVES.test(sentence) || DENIES.test(sentence)) return true;
  const [, some, all] = /\b(\d+)\s*(?:\/|of|out of)\s*(\d+)\b/.exec(sentence) ?? [];
  return some !== all;
}

const words = (approved: boolean, list: string): [string, boolean][] =>
  list.split(/\s+/).flatMap((word) => (word === "" ? [] : [[word, approved]]));

/** Verdict words that count when they are alone on any line of a review. */
const MARKED: ReadonlyMap<string, boolean> = new Map([
  ...words(true, "approved lgtm approval_granted ✅"),
  ...words(
    false,
    `revision_needed revisions_needed revision_required revisions_required needs_revision not_approved changes_requested
     request_changes rejected not_accepted not_lgtm ❌ disapproved unapproved un_approved no_approved approval_denied
     approval_withheld`,
  ),
]);
/** Verdict words of a review that need no label when they are alone on the last line. */
const BARE: ReadonlyMap<string, boolean> = new Map([
  ...MARKED,
  ...words(
    true,
    `approve i_approve i_approve_this i_approve_this_change looks_good_to_me correct the_patch_is_correct accepted
     ready_to_merge ship_it no_revision_needed no_revisions_needed no_revision_required no_changes_requested
     no_changes_needed no_changes_required
     genehmigt freigegeben angenommen aprobado aprobada approuvé approuvée accepté aprovado aprovada approvato approvata
     goedgekeurd godkänt godkendt godkjent hyväksytty zatwierdzone zatwierdzono zatwierdzony schváleno onaylandı
     одобрено утверждено схвалено 批准 已批准 通过 通過 审核通过 承認 承認済み 승인 승인됨`,
  ),
  ...words(
    false,
    `revise incorrect the_patch_is_incorrect reject
     nicht_genehmigt nicht_freigegeben abgelehnt no_aprobado no_aprobada rechazado non_approuvé pas_approuvé refusé rejeté
     não_aprovado rejeitado non_approvato respinto niet_goedgekeurd afgekeurd inte_godkänt ikke_godkendt hylätty
     odrzucone neschváleno reddedildi не_одобрено отклонено 未批准 不批准 不通过 不通過 未通过 拒绝 却下 否決 未承認 거부 반려 미승인`,
  ),
]);
/** Verdict words that count where a field or a label announces a verdict. */
const VERDICTS: ReadonlyMap<string, boolean> = new Map([
  ...BARE,
  ...words(
    true,
    `accept pass passed ok okay good yes y true t on 1 patch_is_correct
     ja wahr oui vrai sí si verdadero sim verdade sì vero tak prawda ano kyllä evet да истина 是 真 はい 예 네 참`,
  ),
  ...words(
    false,
    `fail failed no n false f off 0 bad needs_work needs_changes patch_is_incorrect null none
     nein falsch non faux falso não nee nie fałsz ne ei hayır нет ложь 否 不 假 いいえ 아니요 거짓`,
  ),
]);
const NEGATIONS: ReadonlySet<string> = new Set(["not", "never", "cannot", "nicht", "kein", "pas", "не"]);

/** Matches sentences about an approval: "approved", or a person who approves. */
const APPROVES = /\b(?:approved|lgtm)\b|\b(?:i|we)\b[^.!?;\n]{0,20}\bapprove\b/;
/** Matches a condition, a reservation, a question, a quotation of another person, or an approval of only a part. */
const RESERVES =
  /\?|["'`~]+approved["'`~]+|\b(?:if|unless|until|once|would|could|should|might|provided|but|except|excluding|pending|subject to|conditional(?:ly)?|required|partial(?:ly)?|partly|half|almost|nearly|hardly|barely|scarcely|far from|nothing|none|nobody|no one|zero|claims?|claimed|says?|said|told|asked|instructed|pretends?|wants?|wish|like to)\b/;
/** Matches a negated or postponed approval. */
const DENIES =
  /\b(?:not|never|cannot|can't|isn't|wasn't|won't|don't|doesn't|didn't|neither|nor|unable|refuse|decline|before|will be|to be|to get)\b[^.!?;\n]*\b(?:approved?|lgtm)\b|\b(?:un|non|not|dis|no)-?_?approved\b|❌[^.!?;\n]*\bapproved\b|\bapproved\b[^.!?;\n]*\b(?:when|after (?:the|a|an|you|your|these|those|this|that|fix\w*))\b|\bapproved\b[^.!?;\n]*❌/;
const NO_REVISION =
  /\bno (?:further |more |other |additional )?revisions?(?: is| are)?(?: needed| required| necessary| requested)?\b/g;
/** Matches a request for another round of work. "The revision is good" is not such a request. */
const REVISION =
  /revision[s_\s-]*(?:is |are )?(?:needed|required|necessary|requested)|\b(?:needs?|requires?|please|another|an?|one more|further|minor|major|some|for)\s+(?:\w+\s+)?revisions?\b/;

/**
 * A text in lower case, with straight quotes and one symbol each for yes and no, so that the same patterns match all
 * spellings.
 */
function plain(text: string): string {
  return text
    .normalize("NFC")
    .replace(/[‘’]/g, "'")
    .replace(/[“”„«»]/g, '"')
    .replace(/[✅✔☑👍]\uFE0F?/gu, "✅")
    .replace(/[❌✗✘✖👎🚫⛔]\uFE0F?/gu, "❌")
    .toLowerCase();
}

/**
 * The word of a verdict, without Markdown, punctuation and a check mark of the same meaning: `**✅ Looks good to me.**`
 * becomes `looks_good_to_me`.
 */
function wordOf(text: string): string {
  const word = text
    .replace(/^(?:[\s*_`"'#([{✅-]|\d+[.)]\s)+/u, "")
    .replace(/[\s*_`"'.!,)\]}✅]+$/u, "")
    .replace(/[\s-]+/g, "_");
  return word === "" && text.includes("✅") ? "✅" : word;
}
