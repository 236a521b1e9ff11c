import type { Family } from '../attack.js';
import { post, put, remove } from '../requests.js';
import { namespace } from '../templates.js';
import { builtInExpressions } from './built-in-expressions.js';

const group = 'rules.attack.example.com';
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

const definition = (plural: string, spec: object) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { plural, kind: plural },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
      },
    ],
  },
});

const times = (count: number, text: (n: number) => string, between: string) =>
  Array.from({ length: count }, (_, n) => text(n)).join(between);
const integerWith = (...rules: readonly string[]) => ({
  type: 'integer',
  'x-kubernetes-validations': rules.map((rule) => ({ rule })),
});

/** Expressions that are costly to parse, check or estimate; `size` is the part of the largest one. */
const expressions: readonly (readonly [about: string, (size: number) => string])[] = [
  ['a sum', (size) => `self${' + 1'.repeat(250_000 * size)} > 0`],
  ['conditions', (size) => times(9_000 * size, (n) => `self > ${n % 10}`, ' && ')],
  ['unknown names', (size) => times(9_000 * size, (n) => `nope${n} > 1`, ' && ')],
  ['a list', (size) => `self in [${times(15_000 * size, String, ',')}]`],
  ['a map', (size) => `self in {${times(9_000 * size, (n) => `${n}: ${n}`, ',')}}`],
  ['a list of types', (size) => `size([${times(3_000 * size, (n) => (n % 2 ? '1' : "'a'"), ',')}]) > 0`],
  ['parentheses', (size) => `${'('.repeat(45_000 * size)}self${')'.repeat(45_000 * size)} > 0`],
  ['conversions', () => `optional.of(self)${'.optMap(x, x)'.repeat(25)}.hasValue()`],
  ['types that double', () => `[1]${'.map(x, {x: x})'.repeat(40)}.size() > 0`],
  ['macros in macros', (size) => `${'[self].all(x, '.repeat(240 * size)}true${')'.repeat(240 * size)}`],
  ['comprehensions in sequence', (size) => times(2_000 * size, () => '[1].all(x, x > 0)', ' && ')],
  ['a text', (size) => `'${'a'.repeat(95_000 * size)}'.size() > self`],
  ['a pattern', (size) => `'a'.matches('${'(a|b)*'.repeat(15_000 * size)}')`],
  ['digits', (size) => `self < ${'9'.repeat(95_000 * size)}`],
  ['a format', () => "'%.500000000e'.format([1.0]).size() > self"],
  ['a format of many texts', (size) => `'${'%s'.repeat(20_000 * size)}'.format(['a']).size() > self`],
];

interface Ruled {
  readonly plural: string;
  readonly spec: object;
  readonly values: (size: number) => readonly unknown[];
}

const count = (most: number, size: number) => Math.floor(most * size);

/** Kinds with valid rules, and values for which they are costly to evaluate. */
const ruled: readonly Ruled[] = [
  {
    plural: 'rlists',
    spec: { type: 'array', maxItems: 100_000, items: integerWith('self % 2 == 0', 'self >= 0') },
    values: (size) => [1, 2].map((item) => Array.from({ length: count(49_000, size) }, () => item)),
  },
  {
    plural: 'rquads',
    spec: {
      type: 'array',
      maxItems: 1_000,
      items: { type: 'integer' },
      'x-kubernetes-validations': Array.from({ length: 9 }, () => ({ rule: 'self.all(x, self.exists(y, y == x))' })),
    },
    values: () => [Array.from({ length: 1_000 }, (_, n) => n), Array.from({ length: 400 }, (_, n) => n)],
  },
  {
    plural: 'rtexts',
    spec: {
      type: 'string',
      maxLength: 250_000,
      'x-kubernetes-validations': [
        "self.matches('^(a|b|ab)*c$')",
        "self.replace('a', 'bb').size() > 0",
        'self.trim() == self',
        'self.lowerAscii() == self',
        "self.indexOf('zz') < 0",
        "self.lastIndexOf('ab') > 0",
        "self.split('a').size() > 0",
      ].map((rule) => ({ rule })),
    },
    values: (size) => {
      const half = count(120_000, size);
      return ['ab'.repeat(half), `a${' '.repeat(2 * half)}a`, '9'.repeat(2 * half), '\u{1f600}'.repeat(half)];
    },
  },
  {
    plural: 'rmaps',
    spec: {
      type: 'object',
      maxProperties: 50_000,
      additionalProperties: {
        type: 'string',
        maxLength: 40,
        'x-kubernetes-validations': [{ rule: "self.startsWith('v')" }],
      },
      'x-kubernetes-validations': [{ rule: 'self == oldSelf || self.size() > 0' }],
    },
    values: (size) =>
      ['v', 'w'].map((first) =>
        Object.fromEntries(Array.from({ length: count(40_000, size) }, (_, n) => [`k${n}`, `${first}${n}`])),
      ),
  },
  {
    plural: 'rwides',
    spec: {
      type: 'object',
      properties: Object.fromEntries(Array.from({ length: 3_000 }, (_, n) => [`f${n}`, integerWith('self > 0')])),
    },
    values: () => [Object.fromEntries(Array.from({ length: 3_000 }, (_, n) => [`f${n}`, n]))],
  },
];

/** Rules of custom kinds: costly expressions in definitions, and costly values. Costly expressions of built-in kinds. */
export const rulesFamily: Family = {
  name: 'rules',
  *requests({ isShort }) {
    const size = isShort ? 0.3 : 1;
    const refused = (about: string, spec: object) =>
      post(about, `${definitions}?dryRun=All`, definition('refused', spec));
    for (const [about, text] of expressions) yield refused(`expression: ${about}`, integerWith(text(size)));
    yield refused('many rules', integerWith(...Array.from({ length: count(20_000, size) }, (_, n) => `self > -${n}`)));
    yield refused(
      'many wrong rules',
      integerWith(...Array.from({ length: count(20_000, size) }, (_, n) => `nope${n} > 0`)),
    );
    yield refused(
      'long rules',
      integerWith(...Array.from({ length: 20 }, () => times(9_000 * size, (n) => `self > ${n % 10}`, ' && '))),
    );
    let deep: object = { type: 'integer' };
    for (let level = 0; level < 200; level++)
      deep = { type: 'object', properties: { a: deep }, 'x-kubernetes-validations': [{ rule: 'has(self.a)' }] };
    yield refused('rules at every level', deep);
    for (const { plural, spec, values } of ruled) {
      const objects = `/apis/${group}/v1/namespaces/${namespace}/${plural}`;
      yield post(`rules: definition of ${plural}`, definitions, definition(plural, spec));
      for (const [index, value] of values(size).entries()) {
        const object = { apiVersion: `${group}/v1`, kind: plural, metadata: { name: `o${index}` }, spec: value };
        yield post(`rules: ${plural}`, objects, object);
        yield put(`rules: ${plural}, unchanged`, `${objects}/o${index}`, object);
      }
      yield remove(`rules: ${plural}, deleted`, `${definitions}/${plural}.${group}`);
    }
    yield* builtInExpressions(size);
  },
};
