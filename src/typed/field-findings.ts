import { goQuote } from '../machinery/field-error.js';
import { findingsMax } from './conform.js';

/** Finds the positions of fields in the text of an object, by path. */
export type Positions = (paths: ReadonlySet<string>) => ReadonlyMap<string, number>;

/**
 * Returns unknown and duplicate fields as warnings and strict errors report them: in the order of the document, each
 * once, up to a limit. `duplicates` are messages of decoders; those inside unknown fields are left out. Without
 * positions (YAML, patched objects) duplicates come first.
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
  const position = ({ path }: { readonly path: string | undefined }) =>
    path === undefined ? -1 : (at.get(path) ?? -1);
  return capped(findings.sort((a, b) => position(a) - position(b)).map(({ text }) => text));
}

/** Splits findings into warnings: YAML duplicates are one error of several lines, and a warning per line. */
export function asWarnings(findings: readonly string[]): string[] {
  return findings.flatMap((text) =>
    text.startsWith(yamlProblem) ? text.slice(yamlProblem.length).split('\n  ') : text,
  );
}

const yamlProblem = 'yaml: unmarshal errors:\n  ';

const capped = (texts: readonly string[]): string[] => [...new Set(texts)].slice(0, findingsMax);

const duplicatePattern = /^duplicate field "(.*)"$/s;

/** Returns undefined for messages that name a line instead. */
function pathOf(text: string): string | undefined {
  return duplicatePattern.exec(text)?.[1];
}

/** True if the path is one of `outers`, or inside one. */
function isWithinAny(path: string, outers: ReadonlySet<string>): boolean {
  if (outers.size === 0) return false;
  if (outers.has(path)) return true;
  for (const outer of outers) {
    const next = path[outer.length];
    if ((next === '.' || next === '[') && path.startsWith(outer)) return true;
  }
  return false;
}
