import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { asItems, asText, valueAt, type Fields } from '../../src/machinery/fields.js';
import { int64Min, type Int64 } from '../../src/machinery/int64.js';
import type { ApiAnswer, ApiClient } from './api-client.js';
import { eventually, type Checks } from './checks.js';
import { differences, everyKind } from './every-kind.js';

interface Altered {
  /** `spec.replicas=-1` */
  readonly change: string;
  readonly object: unknown;
}

type Path = readonly (string | number)[];

const requestsAtOnce = 4;
/** Fields of CEL expressions, which Keelson does not compile. */
const expressionField = /[eE]xpression(=|$)|spec\.variables|\.cel(=|$)/;
/** Fields that differ between the answers to two equal requests. */
const assigned = new Set([
  'uid',
  'creationTimestamp',
  'time',
  'clusterIP',
  'clusterIPs',
  'nodePort',
  'healthCheckNodePort',
]);
const named = (path: Path) => path.join('.');
const kept = /^(apiVersion|kind|metadata|metadata\.name|metadata\.namespace)$/;

/** Yields the object with one field removed, emptied, repeated, or set to a bad value, in all ways. */
export function* alterations(object: unknown): Generator<Altered> {
  for (const [path, value] of fieldsOf(object, [])) {
    const name = named(path);
    if (kept.test(name)) continue;
    yield { change: `without ${name}`, object: replaced(object, path, undefined) };
    for (const [shown, changed] of badValues(value)) {
      yield { change: `${name}=${shown}`, object: replaced(object, path, changed) };
    }
  }
  yield { change: 'metadata.name=Bad_Name', object: replaced(object, ['metadata', 'name'], 'Bad_Name') };
}

/** The last ones are an int64 that a double does not hold, and the smallest int64. */
const badNumbers: readonly Int64[] = [-1, 0, 1e9, 2n ** 53n + 1n, int64Min];

function badValues(value: unknown): readonly (readonly [string, unknown])[] {
  if (typeof value === 'string') {
    const texts = ['', '!! bad'].map((text) => [JSON.stringify(text), text] as const);
    return [...texts, ['"aaa…"', 'a'.repeat(300)], ['7', 7]];
  }
  if (typeof value === 'number') return [...badNumbers.map((one) => [String(one), one] as const), ['"x"', 'x']];
  if (typeof value === 'boolean') return [[String(!value), !value]];
  if (Array.isArray(value))
    return [['[]', []], ...(value.length > 0 ? [['twice', [...value, value[0]]] as const] : [])];
  return [
    ['{}', {}],
    ['unknown field', { ...(value as object), unknown: 1 }],
  ];
}

function* fieldsOf(value: unknown, path: Path): Generator<readonly [Path, unknown]> {
  if (path.length > 0) yield [path, value];
  if (typeof value !== 'object' || value === null) return;
  for (const [name, inner] of Object.entries(value)) {
    yield* fieldsOf(inner, [...path, Array.isArray(value) ? Number(name) : name]);
  }
}

function replaced(object: unknown, path: Path, value: unknown): unknown {
  const copy = structuredClone(object) as Fields;
  const parent = path.slice(0, -1).reduce<Fields>((at, name) => at[name] as Fields, copy);
  const last = path.at(-1)!;
  if (value !== undefined) parent[last] = value;
  else if (Array.isArray(parent)) parent.splice(last as number, 1);
  else delete parent[last];
  return copy;
}

/**
 * Sends altered objects of every kind to both servers, as dry runs with strict field validation. The status codes must
 * agree; different causes, messages and defaulted objects are counted and written to a file.
 */
export async function compareAlteredObjects(
  [keelson, upstream]: readonly [ApiClient, ApiClient],
  checks: Checks,
  say: (line: string) => void,
  directory: string,
): Promise<void> {
  await prepare(keelson, upstream);
  const counts = { code: 0, expression: 0, causes: 0, rest: 0 };
  const lines: string[] = [];
  let sent = 0;
  for (const { name, object, collection } of await everyKind(keelson)) {
    const path = `${collection}?dryRun=All&fieldValidation=Strict`;
    const waiting = alterations(object);
    const lane = async () => {
      for (const { change, object: altered } of waiting) {
        const [ours, theirs] = await Promise.all([keelson.post(path, altered), upstream.post(path, altered)]);
        sent++;
        const found = compareAnswers(ours, theirs);
        if (found === undefined) continue;
        const kind = found === 'code' && expressionField.test(change) ? 'expression' : found;
        counts[kind]++;
        lines.push(`${kind}: ${name}: ${change}\n    Keelson ${shown(ours)}\n    kube-apiserver ${shown(theirs)}`);
        if (kind === 'code') say(`    ${name}: ${change}: Keelson ${ours.code}, kube-apiserver ${theirs.code}`);
      }
    };
    await Promise.all(Array.from({ length: requestsAtOnce }, lane));
  }
  const file = join(directory, 'altered-objects.txt');
  writeFileSync(file, lines.join('\n'));
  checks.add(
    'altered objects are accepted or refused by both',
    counts.code <= knownDifferencesMax,
    `${counts.code} of ${sent} codes differ, ${counts.expression} more for CEL; ` +
      `${counts.causes} causes and ${counts.rest} messages or objects differ (${file})`,
  );
}

/** Known differences: values in the node affinity of PersistentVolumes that are not label values. */
const knownDifferencesMax = 2;

function compareAnswers(ours: ApiAnswer, theirs: ApiAnswer): 'code' | 'causes' | 'rest' | undefined {
  if (ours.code !== theirs.code) return 'code';
  if (ours.code >= 300) {
    if (differences(causesOf(ours), causesOf(theirs)).length > 0) return 'causes';
    return ours.body['message'] === theirs.body['message'] ? undefined : 'rest';
  }
  return differences(withoutAssigned(ours.body), withoutAssigned(theirs.body)).length > 0 ? 'rest' : undefined;
}

const causesOf = ({ body }: ApiAnswer) =>
  asItems(valueAt(body, ['details', 'causes']))
    .map(({ reason, field }) => `${asText(reason)} ${asText(field)}`)
    .sort();

const withoutAssigned = (body: Fields): unknown =>
  JSON.parse(JSON.stringify(body, (name, value: unknown) => (assigned.has(name) ? undefined : value)));

const shown = ({ code, body, text }: ApiAnswer) => `${code} ${asText(body['message']) || text}`.slice(0, 1_000);

/** Creates objects that the others refer to, so that admission accepts them. */
async function prepare(keelson: ApiClient, upstream: ApiClient): Promise<void> {
  const accounts = '/api/v1/namespaces/shop/serviceaccounts';
  const classes = '/apis/scheduling.k8s.io/v1/priorityclasses';
  const runtimes = '/apis/node.k8s.io/v1/runtimeclasses';
  await keelson.post('/api/v1/namespaces', { metadata: { name: 'shop' } });
  for (const name of ['reporter', 'default']) await keelson.post(accounts, { metadata: { name } });
  await keelson.post(classes, { metadata: { name: 'shop-checkout' }, value: 100_000 });
  await keelson.post(runtimes, { metadata: { name: 'shop-sandboxed' }, handler: 'gvisor' });
  const pod = { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  await eventually('admission of Pods', async () =>
    (await upstream.post('/api/v1/namespaces/shop/pods?dryRun=All', pod)).code === 201 ? true : undefined,
  );
}
