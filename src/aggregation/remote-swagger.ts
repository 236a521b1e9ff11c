import { asFields } from '../machinery/fields.js';
import type { Steps } from '../std/steps.js';
import type { RemoteSwagger } from './remote-documents.js';

/** References within one document: `#/definitions/com.example.v1.Widget`. */
const kinds = ['definitions', 'parameters'] as const;

/**
 * Returns the paths of an OpenAPI v2 document that begin with `prefix`, with the definitions and parameters that they
 * refer to. Undefined if it has none. The document is from another server: values of other types are left out.
 */
export function* swaggerOf(document: unknown, prefix: string): Steps<RemoteSwagger | undefined> {
  const { paths, ...rest } = asFields(document);
  const own = Object.entries(asFields(paths)).filter(([path, item]) => path.startsWith(prefix) && isObject(item));
  if (own.length === 0) return undefined;
  const all = { definitions: asFields(rest['definitions']), parameters: asFields(rest['parameters']) };
  const found = { definitions: new Map<string, object>(), parameters: new Map<string, object>() };
  const waiting: object[] = own.map(([, item]) => item as object);
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    for (const [kind, name] of referencesIn(next)) {
      const value = Object.hasOwn(all[kind], name) ? all[kind][name] : undefined;
      if (found[kind].has(name) || !isObject(value)) continue;
      found[kind].set(name, value);
      waiting.push(value);
    }
    yield;
  }
  return {
    paths: Object.fromEntries(own) as RemoteSwagger['paths'],
    definitions: Object.fromEntries(found.definitions),
    parameters: Object.fromEntries(found.parameters),
  };
}

type Reference = readonly [kind: (typeof kinds)[number], name: string];

/** Without recursion, since another server chooses the depth. */
function referencesIn(root: object): Reference[] {
  const found: Reference[] = [];
  const waiting: unknown[] = [root];
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (Array.isArray(value)) for (const item of value) waiting.push(item);
    else if (isObject(value)) {
      for (const [key, inner] of Object.entries(value)) {
        const reference = key === '$ref' && typeof inner === 'string' ? parseReference(inner) : undefined;
        if (reference) found.push(reference);
        else waiting.push(inner);
      }
    }
  }
  return found;
}

/** Returns undefined for references that do not name a definition or parameter of the document. */
export function parseReference(text: string): Reference | undefined {
  for (const kind of kinds) if (text.startsWith(`#/${kind}/`)) return [kind, text.slice(kind.length + 3)];
  return undefined;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
