import { goQuote } from '../machinery/field-error.js';
import { findingsMax } from './conform.js';

/** Where fields stand in the text of an object, by their paths. */
export type Positions = (paths: ReadonlySet<string>) => ReadonlyMap<string, number>;

/**
 * What is unknown and what stands twice, as warnings and strict errors name them: in the order of the document, each
 * once, not too many. `duplicates` are texts as decoders give them; those within unknown fields are left out, as nobody
 * reads what stands there. Without positions (YAML, patched objects) duplicates come first.
 */
export function fieldFindings(
  duplicates: readonly string[],
  unknownFields: readonly string[],
  positions?: Positions,
): string[] {
  const unknownPaths = new Set(unknownFields);
  const unknown = unknownFields.map((path) => ({ path, text: `unknown field ${goQuote(path)}` }));
  if (duplicates.length === 0) return capped(unknown.map(({ text }) => text));
  const twice = duplicates
    .map((text) => ({ path: pathOf(text), text }))
    .filter(({ path }) => path === undefined || !isWithinAny(path, unknownPaths));
  const findings = [...twice, ...unknown];
  if (!positions || unknown.length === 0) return capped(findings.map(({ text }) => text));
  const at = positions(new Set(findings.flatMap(({ path }) => path ?? [])));
  const place = ({ path }: { readonly path: string | undefined }) => (path === undefined ? -1 : (at.get(path) ?? -1));
  return capped(findings.sort((a, b) => place(a) - place(b)).map(({ text }) => text));
}

/** As warnings: YAML's duplicates, which are one problem of several lines, line by line. */
export function asWarnings(findings: readonly string[]): string[] {
  return findings.flatMap((text) =>
    text.startsWith(yamlProblem) ? text.slice(yamlProblem.length).split('\n  ') : text,
  );
}

const yamlProblem = 'yaml: unmarshal errors:\n  ';

const capped = (texts: readonly string[]): string[] => [...new Set(texts)].slice(0, findingsMax);

const duplicatePattern = /^duplicate field "(.*)"$/s;

/** Undefined where a text tells a line instead. */
function pathOf(text: string): string | undefined {
  return duplicatePattern.exec(text)?.[1];
}

/** True if the path is one of those, or leads on from one of them. */
function isWithinAny(path: string, outers: ReadonlySet<string>): boolean {
  if (outers.size === 0) return false;
  if (outers.has(path)) return true;
  for (const outer of outers) {
    const next = path[outer.length];
    if ((next === '.' || next === '[') && path.startsWith(outer)) return true;
  }
  return false;
}
