// @ts-check
import { parseAst } from "rolldown/parseAst";

/**
 * A small change of a file. `code` is the line where it begins. `atLoad` says that the code runs when its module is loaded, so that the change has to be
 * there from the start.
 *
 * @typedef {{ id: number, line: number, code: string, was: string, to: string, atLoad: boolean }} Mutant
 */
/** @typedef {any} AnyNode */
/** @typedef {{ node: AnyNode, to: string, atLoad: boolean, write: (id: number, text: Text) => string }} Place */
/** @typedef {(node: AnyNode) => string} Text */

/** The replacement of each operator. @type {Record<string, string>} */
const operators = {
  "===": "!==",
  "!==": "===",
  "<": "<=",
  "<=": "<",
  ">": ">=",
  ">=": ">",
  "&&": "||",
  "||": "&&",
  "+": "-",
  "-": "+",
};

const isOn = (/** @type {number} */ id) => `(globalThis.subcrewMutant === ${id})`;

/**
 * All changes of a file.
 *
 * @param {string} text
 * @returns {{ mutants: Mutant[], write(chosen: readonly Mutant[]): string }} `write` gives the text with the chosen
 * changes in it, each behind a switch
 */
export function mutantsOf(text) {
  const tree = parseAst(text, { lang: "ts" });
  /** @type {Place[]} */
  const places = [];
  visit(tree, undefined, false, (node, parent, isInFunction) => {
    for (const place of placesOf(node, parent, text)) places.push({ ...place, atLoad: !isInFunction });
  });
  places.sort((a, b) => a.node.start - b.node.start);
  const lines = text.split("\n");
  const mutants = places.map(({ node, to, atLoad }, at) => {
    const line = text.slice(0, node.start).split("\n").length;
    const code = (lines[line - 1] ?? "").trim();
    return { id: at + 1, line, code, was: text.slice(node.start, node.end), to, atLoad };
  });
  return {
    mutants,
    write: (chosen) => {
      const on = new Set(chosen.map(({ id }) => id));
      /** @type {Map<AnyNode, Array<[id: number, place: Place]>>} */
      const byNode = new Map();
      for (const [at, place] of places.entries())
        if (on.has(at + 1)) byNode.set(place.node, [...(byNode.get(place.node) ?? []), [at + 1, place]]);
      return textOf(tree, text, byNode);
    },
  };
}

/** The text of a change, on one line and shortened. @param {Mutant} mutant */
export function changeOf({ was, to }) {
  const short = (/** @type {string} */ code) => code.replace(/\s+/g, " ").slice(0, 100);
  return `${short(was)} -> ${short(to)}`;
}

/** Whether an entry of the explained changes is about this one. @param {{ code: string, change: string }} entry @param {Mutant} mutant */
export const covers = ({ code, change }, mutant) => code === mutant.code && change === changeOf(mutant);

/** @param {AnyNode} node @param {AnyNode} parent @param {string} text @returns {Array<Omit<Place, "atLoad">>} */
function placesOf(node, parent, text) {
  const said = (/** @type {AnyNode} */ { start, end }) => text.slice(start, end);
  switch (node.type) {
    case "IfStatement":
    case "WhileStatement":
    case "ConditionalExpression": {
      const { test } = node;
      // A mutation of the operator would make the same change.
      if (/^[!=]==$/.test(test.operator)) return [];
      return [{ node: test, to: `!(${said(test)})`, write: (id, inner) => `(${isOn(id)} !== !!(${inner(test)}))` }];
    }
    case "BinaryExpression":
    case "LogicalExpression": {
      const { left, right, operator } = node;
      const other = operators[operator];
      if (other === undefined) return [];
      const write = (/** @type {number} */ id, /** @type {Text} */ inner) => {
        const [a, b] = [`(${inner(left)})`, `(${inner(right)})`];
        return `(${isOn(id)} ? ${a} ${other} ${b} : ${a} ${operator} ${b})`;
      };
      return [{ node, to: `${said(left)} ${other} ${said(right)}`, write }];
    }
    case "ExpressionStatement":
      if (node.directive) return []; // the parser gives null for a statement that is not a directive
      // The outer braces keep an "else" after the statement with its own "if".
      return [{ node, to: "nothing", write: (id, inner) => `{ if (!${isOn(id)}) { ${inner(node)} } }` }];
    case "AwaitExpression": {
      const { argument } = node;
      const write = (/** @type {number} */ id, /** @type {Text} */ inner) =>
        `(${isOn(id)} ? (${inner(argument)}) : await (${inner(argument)}))`;
      return [{ node, to: said(argument), write }];
    }
    case "SpreadElement": {
      const empty = parent?.type === "ObjectExpression" ? "{}" : "[]";
      const write = (/** @type {number} */ id, /** @type {Text} */ inner) =>
        `...(${isOn(id)} ? ${empty} : (${inner(node.argument)}))`;
      return [{ node, to: "nothing", write }];
    }
    case "Literal": {
      if (parent?.type === "Property" && parent.key === node) return [];
      const other =
        typeof node.value === "boolean" ? !node.value : typeof node.value === "number" ? node.value + 1 : undefined;
      if (other === undefined) return [];
      return [{ node, to: `${other}`, write: (id, inner) => `(${isOn(id)} ? ${other} : ${inner(node)})` }];
    }
    case "ReturnStatement": {
      const { argument } = node;
      // A boolean literal already has a change of its own, and callers often treat undefined like false.
      if (!argument || /^(undefined|true|false)$/.test(said(argument))) return [];
      const write = (/** @type {number} */ id, /** @type {Text} */ inner) =>
        `return (${isOn(id)} ? undefined : (${inner(argument)})) as never;`;
      return [{ node, to: "return undefined", write }];
    }
    default:
      return [];
  }
}

/** Whether a node, and what is below it, is a type or a static import. @param {AnyNode} node */
const isNoCode = (node) => /^(TS|Import)/.test(node.type) && !/^TS(As|NonNull|Satisfies)/.test(node.type);

/** @param {AnyNode} node @returns {AnyNode[]} */
const childrenOf = (node) =>
  Object.values(node)
    .flat()
    .filter((child) => typeof child === "object" && child !== null && typeof child.type === "string");

/**
 * @param {AnyNode} node
 * @param {AnyNode} parent
 * @param {boolean} isInFunction
 * @param {(node: AnyNode, parent: AnyNode, isInFunction: boolean) => void} seen
 */
function visit(node, parent, isInFunction, seen) {
  if (isNoCode(node)) return;
  seen(node, parent, isInFunction);
  const below = isInFunction || /Function/.test(node.type);
  for (const child of childrenOf(node)) visit(child, node, below, seen);
}

/** @param {AnyNode} node @param {string} text @param {Map<AnyNode, Array<[id: number, place: Place]>>} byNode @returns {string} */
function textOf(node, text, byNode) {
  /** The text of a node without its own changes. @type {Text} */
  const plain = (inside) => {
    let result = "";
    let at = inside.start;
    // A shorthand property has its key and its value in the same place.
    for (const child of childrenOf(inside).toSorted((a, b) => a.start - b.start || b.end - a.end)) {
      if (isNoCode(child) || child.start < at) continue;
      result += text.slice(at, child.start) + textOf(child, text, byNode);
      at = child.end;
    }
    return result + text.slice(at, inside.end);
  };
  const [first, ...others] = byNode.get(node) ?? [];
  if (first === undefined) return plain(node);
  // Several changes of one node are written around each other: the outer change sees the inner changes as its text.
  const rest = new Map(byNode).set(node, others);
  const [id, place] = first;
  return place.write(id, (inner) => textOf(inner, text, rest));
}
