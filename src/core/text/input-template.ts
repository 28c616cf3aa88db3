const PLACEHOLDER = /\$\{(\w+)\}/g;

/** Replaces each `${name}` by the input of that name. Throws if there is no such input. */
export function templateString(template: string, inputs: Readonly<Record<string, unknown>>): string {
  const wanted = new Set(Array.from(template.matchAll(PLACEHOLDER), (match) => match[1] ?? ""));
  const missing = [...wanted].filter((name) => !Object.hasOwn(inputs, name));
  if (missing.length > 0) {
    const available = Object.keys(inputs).join(", ");
    throw new Error(
      `Template validation failed: Missing required input parameters: ${missing.join(", ")}. Available inputs: ${available}`,
    );
  }
  return fillInputs(template, inputs);
}

/**
 * Replaces `${name}` if there is an input of that name; everything else, shell and code snippets included, stays as it
 * is.
 */
export function fillInputs(text: string, inputs: Readonly<Record<string, unknown>>): string {
  return text.replace(PLACEHOLDER, (whole, name: string) =>
    Object.hasOwn(inputs, name) ? String(inputs[name]) : whole,
  );
}
