import fastJsonPatch, { type Operation } from 'fast-json-patch';
import { stringifyJson } from '../codec/json.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../machinery/kube-object.js';

const time = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/g;
const versionInText = /(resource ?version:? ?"?)\d+( \(\d+\))?/gi;
/** Hashes of OpenAPI documents, which depend on the definitions in the cluster. */
const documentHash = /\bhash=[0-9A-F]{64,128}\b/g;
/** Cells of Tables with the age of an object. */
const age = /^(\d+[smhdy])+$/;
const chosenNumbers = new Set(['nodePort', 'healthCheckNodePort']);
const valueCharactersMax = 200;

/** Returns the differences as lines: `replace /spec/replicas: 3, now 2`. Paths that match `ignored` are left out. */
export function differencesOf(
  expected: JsonValue | undefined,
  actual: JsonValue | undefined,
  ignored: readonly string[],
): string[] {
  // The two are wrapped, since a body may be any value.
  const before: JsonObject = expected === undefined ? {} : { body: normalized(expected) };
  const after: JsonObject = actual === undefined ? {} : { body: normalized(actual) };
  return fastJsonPatch
    .compare(before, after)
    .map((operation) => ({ ...operation, path: operation.path.slice('/body'.length) || '/' }))
    .filter(({ path }) => !ignored.some((pattern) => matches(pattern, path)))
    .map((operation) => describe(operation, before));
}

/** Replaces times, resourceVersions and other values that are new in every run. */
function normalized(value: JsonValue, key = ''): JsonValue {
  if (typeof value === 'string') {
    if (key === 'resourceVersion' || key === 'continue') return value === '' ? value : `<${key}>`;
    if (key === 'cells' && age.test(value)) return '<age>';
    return value
      .replace(time, '<time>')
      .replace(versionInText, '$1<resourceVersion>')
      .replace(documentHash, 'hash=<hash>');
  }
  if (typeof value === 'number' && chosenNumbers.has(key)) return `<${key}>`;
  // fast-json-patch compares values by their JSON text, which has no bigint.
  if (typeof value === 'bigint') return value.toString();
  if (Array.isArray(value)) return value.map((item) => normalized(item, key));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, normalized(one, name)]));
}

/** `*` stands for one segment; the fields below a path match too. */
function matches(pattern: string, path: string): boolean {
  const wanted = pattern.split('/');
  const segments = path.split('/');
  return wanted.length <= segments.length && wanted.every((one, i) => one === '*' || one === segments[i]);
}

function describe(operation: Operation & { readonly path: string }, before: JsonObject): string {
  const { op, path } = operation;
  const now = 'value' in operation ? shown(operation.value as JsonValue) : '';
  if (op === 'add') return `add ${path}: ${now}`;
  const was = shown(valueAt(before, path));
  return op === 'remove' ? `remove ${path}: ${was}` : `${op} ${path}: ${was}, now ${now}`;
}

function valueAt({ body }: JsonObject, path: string): JsonValue | undefined {
  if (path === '/') return body;
  let value: JsonValue | undefined = body;
  for (const segment of path.split('/').slice(1)) {
    const name = segment.replaceAll('~1', '/').replaceAll('~0', '~');
    value = (value as JsonObject | undefined)?.[name];
  }
  return value;
}

function shown(value: JsonValue | undefined): string {
  const text = stringifyJson(value) ?? 'nothing';
  return text.length > valueCharactersMax ? `${text.slice(0, valueCharactersMax)}…` : text;
}
