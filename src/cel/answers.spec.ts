import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Schema } from './declared/schema-type.js';
import { schemaType } from './declared/schema-type.js';
import { costExpressions, isInternal } from '../../test/cel/cost-expressions.js';
import { mergeFunctions } from './check/declarations.js';
import type { Environment } from './environment.js';
import { kubernetesEnvironment, kubernetesLibraries } from './kubernetes.js';
import { bindingsLibrary } from './libraries/bindings.js';
import { encodersLibrary } from './libraries/encoders.js';
import type { AccessCheck, AccessDecision } from './libraries/kubernetes/authorizer.js';
import { Authorizer, authorizerType, ResourceCheck, resourceCheckType } from './libraries/kubernetes/authorizer.js';
import { mathLibrary } from './libraries/math.js';
import { re2Engine } from './re2-engine.js';
import { CelType, types, wrapperOf } from './types.js';
import { display } from './values/conversions.js';
import { elementsOf, isList } from './values/lists.js';
import { isMap } from './values/maps.js';
import { compareUtf8 } from '../std/compare-utf8.js';
import { formatTimestamp } from './values/time.js';
import type { Value } from './values/value.js';
import { Double, Duration, OpaqueValue, Optional, Timestamp, Uint } from './values/value.js';

/** An expression with the reference's answers; fixtures/README.md says how they were recorded. */
interface Row {
  readonly expr: string;
  /** A release (`1.28`), `stored`, or `ext`: the latest with libraries that Kubernetes does not enable. */
  readonly env?: string;
  readonly err?: string;
  readonly type?: string;
  readonly est?: readonly [string, string];
  readonly perr?: string;
  readonly res?: string;
  readonly rerr?: string;
  readonly cost?: string;
}

const fixtures = join(__dirname, 'fixtures');
const rowsOf = (file: string): readonly Row[] =>
  readFileSync(join(fixtures, file), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Row);
const costRows = rowsOf('costs.jsonl');
const rows = [...rowsOf('answers.jsonl'), ...costRows];
const world = JSON.parse(readFileSync(join(fixtures, 'world.json'), 'utf8')) as {
  schema: Schema;
  self: Record<string, unknown>;
  dyn: unknown;
};
// JSON.parse has rounded it.
world.self.big = 2n ** 63n - 1n;

const regex = re2Engine();
const authorizer = new Authorizer(decide);
const bindings = {
  self: world.self,
  any: world.dyn,
  vi: 7,
  vs: 'h\u00e9llo w\u00f6rld',
  vd: 2.5,
  authorizer,
  'authorizer.requestResource': new ResourceCheck(authorizer, {
    group: 'apps',
    resource: 'deployments',
    namespace: 'ns',
    name: 'web',
  }),
  'a.b': 5,
  wrapped: null,
};
const variables = {
  self: schemaType(world.schema, 'Thing')!,
  any: types.dyn,
  vi: types.int,
  vs: types.string,
  vd: types.double,
  authorizer: authorizerType,
  'authorizer.requestResource': resourceCheckType,
  'a.b': types.int,
  unbound: types.int,
  wrapped: wrapperOf(types.int),
};

function decide(check: AccessCheck): AccessDecision {
  if (check.verb === 'fail') return { isAllowed: false, reason: '', error: 'no answer' };
  if (check.verb !== 'get') return { isAllowed: false, reason: 'denied' };
  const { group, resource, subresource, namespace, name, path = '', serviceAccount: account } = check;
  const user = account ? `system:serviceaccount:${account.namespace}:${account.name}` : 'alice';
  const parts = [group, resource, subresource, namespace, name].join('/');
  return { isAllowed: true, reason: `rule ${parts}${path}@${user}` };
}

const environments = new Map<string, Environment>();
function environmentOf(name: string): Environment {
  let environment = environments.get(name);
  if (!environment) {
    environment = kubernetesEnvironment({
      regex,
      compatibilityVersion: { major: 1, minor: name.startsWith('1.') ? Number(name.slice(2)) : 36 },
      mode: name === 'stored' ? 'stored' : 'new',
      variables,
      libraries: name === 'ext' ? [mathLibrary, encodersLibrary, bindingsLibrary] : [],
    });
    environments.set(name, environment);
  }
  return environment;
}

function answer({ expr, env }: Row): Row {
  const head = { expr, ...(env !== undefined && { env }) };
  const compiled = environmentOf(env ?? '').compile(expr);
  if (!compiled.isOk) return { ...head, err: compiled.message };
  const { min, max } = compiled.estimatedCost;
  const typed = { ...head, type: compiled.resultType.toString(), est: [String(min), String(max)] as const };
  if (compiled.program instanceof Error) return { ...typed, perr: compiled.program.message };
  const outcome = compiled.program.evaluate(bindings, { costLimit: 1_000_000 });
  const cost = String(outcome.cost);
  return outcome.isOk ? { ...typed, res: canonical(outcome.value), cost } : { ...typed, rerr: outcome.error, cost };
}

/** The value as the recorder writes it. */
function canonical(value: Value): string {
  if (typeof value === 'string')
    return JSON.stringify(value).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
  if (value === null || typeof value === 'boolean') return String(value);
  if (value instanceof Uint) return `${value.value}u`;
  if (value instanceof Double) return Number.isNaN(value.value) ? 'NaN' : `d${exponential(value.value)}`;
  if (value instanceof Uint8Array) return `b${Buffer.from(value).toString('hex')}`;
  if (value instanceof Timestamp) return `timestamp ${formatTimestamp(value)}`;
  if (value instanceof Duration) return `duration ${value.nanos}`;
  if (value instanceof Optional) return `optional(${value.value === undefined ? '' : canonical(value.value)})`;
  if (value instanceof CelType) return `type ${value.name}`;
  if (value instanceof OpaqueValue) return opaque(value);
  if (isList(value)) return `[${Array.from(elementsOf(value), canonical).join(', ')}]`;
  if (!isMap(value)) return display(value);
  const entries = [...value.keys()].map((key) => `${canonical(key)}: ${canonical(value.find(key)!)}`);
  return `{${entries.sort(compareUtf8).join(', ')}}`;
}

function exponential(value: number): string {
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  const text = Object.is(value, -0) ? '-0e+0' : value.toExponential();
  const [mantissa, exponent] = text.split('e') as [string, string];
  return `${mantissa}e${exponent[0]}${exponent.slice(1).padStart(2, '0')}`;
}

function opaque(value: OpaqueValue): string {
  const { name } = value.type;
  const shown = /^(?:kubernetes\.(?:Quantity|URL|Semver)|net\.(?:IP|CIDR))$/.test(name);
  return shown ? `${name.split('.')[1]!.toLowerCase()} ${value.toString()}` : `value of ${name}`;
}

/** Rows whose answers are known to differ; fixtures/README.md gives the reasons. */
/** Expressions by the reason for the difference. */
const differences = JSON.parse(readFileSync(join(fixtures, 'differences.json'), 'utf8')) as Record<string, string[]>;
const knownDifferences = new Set(Object.values(differences).flat());

describe('answers of the reference', () => {
  it.each([
    '',
    'ext',
    'stored',
    ...['25', '27', '28', '29', '30', '31', '32', '33', '34'].map((minor) => `1.${minor}`),
  ])('are the same in the environment "%s": errors, types, results and both costs', (name) => {
    const chosen = rows.filter(({ env = '' }) => env === name);
    expect(chosen.length).toBeGreaterThan(5);
    const wrong = chosen.filter((row) => !knownDifferences.has(row.expr)).map((row) => [answer(row), row] as const);
    for (const [got, want] of wrong) expect(got).toEqual(want);
  });

  it('differ in no more rows than are listed', () => {
    const differing = rows.filter((row) => JSON.stringify(sorted(answer(row))) !== JSON.stringify(sorted(row)));
    expect([...new Set(differing.map(({ expr }) => expr))].sort()).toEqual([...knownDifferences].sort());
  });
});

describe('the table of costs', () => {
  const libraries = kubernetesLibraries({ regex, compatibilityVersion: { major: 1, minor: 36 }, mode: 'new' });
  const functions = mergeFunctions(libraries.flatMap((library) => library.functions ?? []));

  it('has rows for every overload of every function', () => {
    const recorded = new Set(costRows.map(({ expr }) => expr));
    const wanted = costExpressions(functions.values());
    expect(wanted.filter(({ expr }) => !recorded.has(expr))).toEqual([]);
    const overloads = [...functions.values()].filter(({ name }) => !isInternal(name)).flatMap((each) => each.overloads);
    const covered = new Set(wanted.map(({ of }) => of));
    expect(overloads.filter(({ id }) => !covered.has(id)).map(({ id }) => id)).toEqual([]);
  });

  it('has costs in every row', () => {
    expect(costRows.filter(({ est, cost }) => est === undefined || cost === undefined)).toEqual([]);
  });
});

const sorted = (row: Row): unknown => Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1));
