import { tryJson } from './json.js';

/** Returns { message, reason } of a Status in JSON or in the YAML of the server; undefined of other texts. */
export function statusOf(text) {
  const json = tryJson(text);
  if (json !== undefined) return json;
  if (!/^kind: Status$/m.test(text)) return undefined;
  const [, message = ''] = /^message: (.*(?:\n(?: .*)?)*)/m.exec(text) ?? [];
  return { message: scalarOf(message.trimEnd()), reason: /^reason: (\w+)$/m.exec(text)?.[1] };
}

/** Reads a scalar of YAML: plain, quoted or a block. Line breaks of the first two are spaces. */
function scalarOf(text) {
  const [first, ...rest] = text.split('\n');
  if (/^[|>][-+]?$/.test(first)) return rest.map((line) => line.trimStart()).join('\n');
  const joined = text.replace(/\n\s*/g, ' ');
  if (joined.startsWith("'")) return joined.slice(1, -1).replaceAll("''", "'");
  return joined.startsWith('"') ? (tryJson(joined) ?? joined) : joined;
}
