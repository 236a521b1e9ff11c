/** A media type with its parameters: a Content-Type, or one clause of an Accept header. */
interface MediaType {
  /** `application/json`, lower case. */
  readonly name: string;
  readonly parameters: ReadonlyMap<string, string>;
}

export interface AcceptClause extends MediaType {
  readonly quality: number;
}

/** Returns undefined for an invalid media type. */
export function parseContentType(text: string): MediaType | undefined {
  const [name = '', ...rest] = splitOutsideQuotes(text, ';').map((part) => part.trim());
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+\/[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) return undefined;
  const parameters = new Map<string, string>();
  for (const [index, parameter] of rest.entries()) {
    if (parameter === '' && index === rest.length - 1) break;
    const equals = parameter.indexOf('=');
    if (equals <= 0) return undefined;
    parameters.set(parameter.slice(0, equals).trim().toLowerCase(), unquoted(parameter.slice(equals + 1).trim()));
  }
  return { name: name.toLowerCase(), parameters };
}

/** Returns the clauses of an Accept header, sorted by preference. Invalid clauses are skipped. */
export function parseAccept(text: string): AcceptClause[] {
  const clauses: AcceptClause[] = [];
  for (const clause of splitOutsideQuotes(text, ',')) {
    const [range = '', ...rest] = splitOutsideQuotes(clause, ';');
    const name = range.trim().toLowerCase();
    const isRange = name === '*' || name.split('/').length === 2;
    if (!isRange) continue;
    const parameters = new Map<string, string>();
    let quality = 1;
    for (const parameter of rest) {
      const equals = parameter.indexOf('=');
      if (equals < 0) continue;
      const key = parameter.slice(0, equals).trim();
      const value = unquoted(parameter.slice(equals + 1).trim());
      if (key === 'q') quality = Number(value) || 0;
      else parameters.set(key, value);
    }
    clauses.push({ name: name === '*' ? '*/*' : name, parameters, quality });
  }
  return clauses.sort((a, b) => b.quality - a.quality || breadth(a) - breadth(b));
}

/** Returns 0 for a media type, 1 for all subtypes of a type, 2 for any type. */
function breadth({ name }: AcceptClause): number {
  return name === '*/*' ? 2 : name.endsWith('/*') ? 1 : 0;
}

function splitOutsideQuotes(text: string, separator: string): string[] {
  if (!text.includes('"')) return text.split(separator);
  const parts: string[] = [];
  let start = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!;
    if (character === '\\' && quoted) at++;
    else if (character === '"') quoted = !quoted;
    else if (character === separator && !quoted) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  parts.push(text.slice(start));
  return parts;
}

function unquoted(text: string): string {
  return text.length >= 2 && text.startsWith('"') && text.endsWith('"')
    ? text.slice(1, -1).replace(/\\(.)/g, '$1')
    : text;
}
