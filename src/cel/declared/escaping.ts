import { defaultExpressionCodePointsMax } from '../syntax/limits.js';

/** Names of fields that are no identifiers, as expressions write them: `my-field` is `my__dash__field`. */
const reserved = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);
const escapes: Record<string, string> = { __: '__underscores__', '.': '__dot__', '-': '__dash__', '/': '__slash__' };
const unescapes = new Map(Object.entries(escapes).map(([text, escape]) => [escape.slice(2, -2), text]));

export const isReserved = (name: string): boolean => reserved.has(name);

/** The identifier; undefined for a name that none stands for, or that is longer than an expression may be. */
export function escapeName(name: string): string | undefined {
  if (name === '' || name.length > defaultExpressionCodePointsMax) return undefined;
  if (!/^[A-Za-z_./-][A-Za-z0-9_./-]*$/.test(name)) return undefined;
  if (reserved.has(name)) return `__${name}__`;
  return name.replace(/__|[-./]/g, (part) => escapes[part]!);
}

/** The name that an identifier stands for; undefined if there is none. */
export function unescapeName(identifier: string): string | undefined {
  if (!identifier.includes('__')) return identifier;
  let isValid = true;
  const name = identifier.replace(/_{2}[^_]+_{2}/g, (escape) => {
    const content = escape.slice(2, -2);
    const text = unescapes.get(content);
    if (text !== undefined) return text;
    if (!reserved.has(content) || escape.length !== identifier.length) isValid = false;
    return content;
  });
  return isValid ? name : undefined;
}
