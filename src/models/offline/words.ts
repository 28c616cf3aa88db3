/** Words that carry no subject (how, where, please); searching for them would match everything. */
export const STOP_WORDS: ReadonlySet<string> = words(`
  a about above across after again against all almost alone along already also although always am among an and
  another any anybody anyone anything anywhere are aren around as ask asked at away back be became because become
  been before behind being below beside besides best better between beyond both briefly but by came can cannot
  clearly come concerning concise could couldn currently deal deals describe described describes describing did didn
  different do does doesn doing don done down during each eight either else enough especially etc even ever every
  everything exactly explain explained explains explore far few find finds finding findings first five following
  follows for found four from full gave general generally get gets getting give given gives go goes going gone good
  got great had has hasn have haven having he hello help helps hence her here hey hi him his how however i if
  important in including inside instead into investigate involved is isn it its itself just know known last later
  least less let lets like likely locate located long look looked looking looks made mainly make makes making many
  may maybe me mean means mention mentioned might mine more most mostly much must my near neither never new next no
  nobody none nor not nothing now of off often ok okay old on once one only onto or other others our out outline
  over overview own per perhaps placed please possible precisely probably put quick quickly quite rather real really
  related relevant research respectively right said same say says see seem seems seen several shall she short
  shortly should show showed shown shows similar simple simply since six so some somebody someone something
  sometimes somewhere soon still such summarise summarize summary sure take taken takes tell tells than thank thanks
  that the their theirs them then there therefore these they thing things think third this those though three
  through throughout thus to today together told too toward towards truly try turn turned turning turns twice two
  under understand unless until up upon us use used useful uses using usual usually various versus very via want
  wanted wants was wasn way ways we well went were weren what whatever when whenever where wherever whether which
  whichever while who whole whom whose why will with within without won would wouldn yes yet you your yours yourself
  bitte happened happening earlier previous analyse analyze identify determine
`);

/** Words that occur in every project; they count, with a low weight, only if a question has few other words. */
export const COMMON_WORDS: ReadonlySet<string> = words(`
  analysis answer answers behavior behaviour change changed changes check checked class classes code codebase
  compare compared defined definition detail details directories directory example examples file files folder
  folders follow followed function functions handle handled handles handling happen happens implement implementation
  implemented implements include included keep kind line lines list listed lists live lives logic main method
  methods name named names need needed needs note output outputs part parts place places point points project
  question questions repo report repository responsible result results review reviewed search second source sources
  step steps type types user users variable variables word words work worked working works write written
`);

/**
 * Groups of words that programmers use for the same thing; a question with one word of a group also finds the other
 * words of that group.
 */
export const SYNONYMS: readonly (readonly string[])[] = [
  ["cancel", "abort"],
  ["auth", "login", "session", "credential"],
  ["authentication", "login", "session"],
  ["authorization", "permit", "permission", "access"],
  ["config", "setting", "option"],
  ["configuration", "setting", "config"],
  ["error", "exception", "fault"],
  ["run", "execute", "perform"],
  ["execute", "run", "perform"],
  ["delete", "remove"],
  ["database", "sql", "postgres"],
  ["concurrency", "parallel", "slots"],
  ["retry", "backoff"],
  ["cache", "memo"],
  ["start", "launch", "spawn"],
  ["log", "trace"],
  ["payment", "charge", "invoice"],
  ["permission", "permit", "rights", "allow"],
  ["limit", "budget", "quota"],
  ["timeout", "deadline"],
  ["parse", "decode"],
  ["route", "endpoint"],
  ["token", "jwt"],
  ["encrypt", "cipher"],
  ["mail", "smtp"],
];

/** First words of requests that a search cannot fulfil, such as requests for changes. */
export const CHANGES: ReadonlySet<string> = words(`
  add build commit convert create delete deploy design draft edit extend fix generate implement install merge
  migrate move optimise optimize port refactor release remove rename replace rewrite run translate update upgrade
  write
`);

function words(text: string): Set<string> {
  return new Set(text.trim().split(/\s+/));
}
