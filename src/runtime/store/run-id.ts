/** The form of the id of a run. */
export const RUN_ID = /^run_[a-z0-9]{12}$/;

/** A new id, made of the bytes it is given. */
export function runId(random: () => number): string {
  const letters = "abcdefghijklmnopqrstuvwxyz0123456789";
  return `run_${Array.from({ length: 12 }, () => letters[Math.floor(random() * letters.length)]).join("")}`;
}
