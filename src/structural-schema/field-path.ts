import { asFields, isSet, type Fields } from '../machinery/fields.js';

type Found =
  | {
      readonly names: readonly string[];
      /** The path as errors print it: `spec.labels[app]`. */
      readonly text: string;
      readonly schema: Fields;
    }
  | { readonly problem: string };

const endOfPath = 'unexpected end of JSON path';
const noField = 'does not refer to a valid field';

/** Returns the schema of the field at a path: `.spec.color`, or `.metadata['a.b']` if brackets are allowed. */
export function findField(
  path: string,
  schema: Fields,
  { allowsBrackets }: { readonly allowsBrackets: boolean } = { allowsBrackets: true },
): Found {
  const names: string[] = [];
  let text = '';
  let at = schema;
  // Read one by one: a path may have millions, of which the first does not name a field.
  const tokens = path.matchAll(/'(?:[^'\\]|\\.)*'?|[.[\]]|[^.[\]']+/gs);
  const next = (): string | undefined => tokens.next().value?.[0];
  for (let token = next(); token !== undefined; token = next()) {
    let name = next();
    if (token === '[') {
      if (!allowsBrackets) return { problem: 'array notation is not allowed' };
      if (name === undefined) return { problem: endOfPath };
      if (!/^'(?:[^'\\]|\\.)*'$/s.test(name)) return { problem: `expected single quoted string but got ${name}` };
      name = name.slice(1, -1).replace(/\\(.)/gs, '$1');
    } else if (token !== '.') return { problem: `expected [ or . but got: ${token}` };
    else if (name === undefined) return { problem: endOfPath };
    const found = step(at, name);
    if (!found) return { problem: noField };
    text += found.isKey ? `[${name}]` : `${text === '' ? '' : '.'}${name}`;
    at = found.schema;
    names.push(name);
    if (token !== '[') continue;
    const closing = next();
    if (closing === undefined) return { problem: endOfPath };
    if (closing !== ']') return { problem: `expected ] but got ${closing}` };
  }
  return { names, text, schema: at };
}

function step(schema: Fields, name: string): { readonly schema: Fields; readonly isKey: boolean } | undefined {
  const properties = asFields(schema['properties']);
  if (Object.keys(properties).length > 0) {
    return Object.hasOwn(properties, name) ? { schema: asFields(properties[name]), isKey: false } : undefined;
  }
  const additional = schema['additionalProperties'];
  return isSet(additional) ? { schema: asFields(additional), isKey: true } : undefined;
}
