import type { FunctionDeclaration, Overload } from '../../src/cel/check/declarations.js';
import type { CelType } from '../../src/cel/types.js';
import { CelType as Type, listOf, mapOf, types } from '../../src/cel/types.js';

/** An expression whose costs are recorded, and the overload that it is about. */
interface CostExpression {
  readonly of: string;
  readonly expr: string;
}

/**
 * Arguments by their type: constants, and fields of `self` with small, large and without declared sizes
 * (`src/cel/fixtures/world.json`).
 */
const argumentsByType: Readonly<Record<string, readonly string[]>> = {
  bool: ['self.b', 'true', 'self.bools[0]'],
  bytes: ['self.bytes', "b'abc'"],
  double: ['self.d', '2.5', 'vd', 'self.nums[0]'],
  int: ['self.i', '2', 'vi', 'self.ints[1]', 'self.list.size()'],
  string: ['self.s', "'quick'", 'self.t', 'vs', 'self.list[0]', "self.m['k1']", "self.t + 'x'"],
  uint: ['uint(self.i)', '3u'],
  'google.protobuf.Duration': ['self.dur', "duration('90s')"],
  'google.protobuf.Timestamp': ['self.ts', 'self.date', "timestamp('2024-02-29T12:00:00Z')"],
  'list(bool)': ['self.bools', '[true, false]'],
  'list(bytes)': ["[self.bytes, b'a']"],
  'list(double)': ['self.nums', '[1.5, 2.5]'],
  'list(dyn)': ['self.list', "[dyn(1), dyn('a')]", 'self.ints'],
  'list(google.protobuf.Duration)': ["[self.dur, duration('1s')]"],
  'list(google.protobuf.Timestamp)': ['[self.ts, self.date]'],
  'list(int)': ['self.ints', '[1, 2, 3]', 'self.nested[0]', '(self.ints + [4])', 'self.ints.filter(x, x > 1)'],
  'list(list(int))': ['self.nested', '[[1], [2, 3]]'],
  'list(optional_type(int))': ['[self.?i, optional.none()]'],
  'list(string)': ['self.list', 'self.set', "['a', 'b']", 'self.empty', "self.t.split(' ')", 'self.list.map(x, x + x)'],
  'list(uint)': ['[1u, 2u]', 'self.ints.map(x, uint(x))'],
  'map(string, int)': ['self.mi', "{'one': 1, 'b': 2}"],
  'map(string, string)': ['self.m', "{'k1': 'b'}"],
  'optional_type(int)': ['self.?i', 'optional.of(2)', 'optional.none()'],
  'optional_type(list(int))': ['self.?ints', 'optional.of([1])'],
  'optional_type(map(string, int))': ['self.?mi'],
  'optional_type(string)': ['self.?s', 'self.?absent'],
  dyn: ['any', 'any.map'],
  'kubernetes.Quantity': ['quantity(self.cpu)', "quantity('2Gi')"],
  'kubernetes.Semver': ["semver('1.2.3')", "semver('1.10.0')"],
  'kubernetes.URL': ['url(self.url)', "url('https://example.com/a')"],
  'kubernetes.NamedFormat': ['format.dns1123Label()', "format.named('uuid').value()"],
  'kubernetes.authorization.Authorizer': ['authorizer'],
  'kubernetes.authorization.Decision': ["authorizer.requestResource.check('get')"],
  'kubernetes.authorization.GroupCheck': ["authorizer.group('apps')"],
  'kubernetes.authorization.PathCheck': ["authorizer.path('/x')"],
  'kubernetes.authorization.ResourceCheck': ['authorizer.requestResource', "authorizer.group('').resource('pods')"],
  'net.CIDR': ['cidr(self.net)', "cidr('10.0.0.0/8')"],
  'net.IP': ['ip(self.addr)', "ip('::1')"],
};

/** Texts that a function understands, by a pattern of the overload's id and the index of the parameter. */
const textArguments: readonly [RegExp, number, readonly string[]][] = [
  [/_with_tz$/, 1, ["'UTC'", "'America/New_York'", "'-05:30'"]],
  [/^matches|^string_find/, 1, ["'l+'", "'[a-z]{2,5}o'", 'self.list[0]']],
  [/quantity/, 0, ['self.cpu', "'1.5Gi'"]],
  [/url/, 0, ['self.url', "'https://a.b/c'"]],
  [/^(?:string_to_ip|is_ip)$/, 0, ['self.addr', "'::1'"]],
  [/ip_is_canonical/, 0, ['self.addr']],
  [/^(?:string_to_cidr|is_cidr)$/, 0, ['self.net', "'::/0'"]],
  [/contains_ip_string/, 1, ['self.addr', "'10.1.2.3'"]],
  [/contains_cidr_string/, 1, ['self.net', "'10.1.0.0/16'"]],
  [/semver/, 0, ["'1.2.3'", "self.s + '1'"]],
  [/^string_to_(?:int|uint)64$/, 0, ["'12'", "self.s.replace('hello', '7')"]],
  [/^string_to_double$/, 0, ["'1.5'", "self.s.replace('hello', '7.5')"]],
  [/^string_to_bool$/, 0, ["'true'", 'string(self.b)']],
  [/^string_to_duration$/, 0, ["'1h'", 'string(self.dur)']],
  [/^string_to_timestamp$/, 0, ["'2024-02-29T12:00:00Z'", 'string(self.ts)']],
  [/^string_format$/, 0, ["'%s and %s'", "self.s + '%s'"]],
  [/_check$/, 1, ["'get'", "'list'"]],
  [/fieldselector/, 1, ["'metadata.name=x'"]],
  [/labelselector/, 1, ["'a=b'", "'a in (b, c), d'"]],
  [/^int64_to_duration$/, 0, ['self.i', 'vi']],
  [/^format-named$/, 0, ["'uuid'", "'none'"]],
];

const operators: Readonly<Record<string, (args: readonly string[]) => string>> = {
  '!_': ([of]) => `!${of}`,
  '-_': ([of]) => `-(${of})`,
  '_[_]': ([of, at]) => `${of}[${at}]`,
  '_[?_]': ([of, at]) => `${of}[?${at}]`,
  '_?._': ([of]) => `${of}.?a`,
  '_?_:_': ([test, yes, no]) => `${test} ? ${yes} : ${no}`,
  '@in': ([of, list]) => `${of} in ${list}`,
};

/** Type parameters are each of these. */
const instances: readonly CelType[] = [types.int, types.string];
const rowsPerOverload = 6;

/** The same expressions for the same functions: some for each overload, and some for each macro. */
export function costExpressions(functions: Iterable<FunctionDeclaration>): readonly CostExpression[] {
  const rows = [...macroExpressions];
  for (const declared of functions)
    for (const overload of declared.overloads) rows.push(...ofOverload(declared.name, overload));
  return rows;
}

/** Functions that only macros call; their costs are those of the macros. */
export const isInternal = (name: string): boolean => name.includes('@') && name !== '@in';

function ofOverload(name: string, overload: Overload): readonly CostExpression[] {
  if (isInternal(name)) return [];
  const exprs = new Set<string>();
  for (const instance of instances) {
    const key = keyParamOf(overload);
    const typeOf = (param: CelType): CelType =>
      param === key || param.name === key?.name ? types.string : instantiate(param, instance);
    const pools = overload.params.map((param, index) => poolOf(overload.id, index, typeOf(param)));
    if (pools.some((pool) => pool.length === 0)) continue;
    for (let row = 0; row < rowsPerOverload; row++)
      exprs.add(
        written(
          name,
          overload.isMember,
          pools.map((pool, index) => pool[(row + index * (row % 2)) % pool.length]!),
        ),
      );
  }
  return [...exprs].map((expr) => ({ of: overload.id, expr }));
}

/** The type parameter that is the key of a map. */
function keyParamOf({ params }: Overload): CelType | undefined {
  for (const param of params) {
    const map = param.isOptional ? param.params[0]! : param;
    if (map.kind === 'map') return map.params[0];
  }
  return undefined;
}

function poolOf(id: string, index: number, type: CelType): readonly string[] {
  const isPlain = type.kind === 'string' || type.kind === 'int';
  for (const [pattern, at, pool] of textArguments) if (isPlain && at === index && pattern.test(id)) return pool;
  return argumentsByType[type.toString()] ?? [];
}

/** The type with each parameter replaced; the keys of maps are strings. */
function instantiate(type: CelType, instance: CelType): CelType {
  if (type.kind === 'param') return instance;
  if (type.kind === 'map') return mapOf(types.string, instance);
  if (type.kind === 'list') return listOf(instantiate(type.params[0]!, instance));
  if (type.params.length === 0) return type;
  return new Type(
    type.kind,
    type.name,
    type.params.map((param) => instantiate(param, instance)),
  );
}

function written(name: string, isMember: boolean, args: readonly string[]): string {
  const operator = operators[name];
  if (operator) return operator(args);
  const symbol = /^_(.+)_$/.exec(name)?.[1];
  if (symbol !== undefined) return `${args[0]} ${symbol} ${args[1]}`;
  const [target, ...rest] = args;
  if (!isMember) return `${name}(${args.join(', ')})`;
  return `${/[ +]/.test(target!) ? `(${target})` : target}.${name}(${rest.join(', ')})`;
}

const lists = ['self.ints', 'self.list', '[1, 2, 3]', 'self.nested', 'self.set', 'any.ints', 'self.empty'];
const maps = ['self.m', 'self.mi', 'self.mo', "{'a': 1}", 'any.map'];
const macroExpressions: readonly CostExpression[] = [
  ...[...lists, ...maps].flatMap((range) => [
    ...['all', 'exists', 'exists_one'].map((name) => `${range}.${name}(x, x == x)`),
    ...['all', 'exists', 'existsOne'].map((name) => `${range}.${name}(k, v, k != k || v == v)`),
  ]),
  // The order of a map's keys is random in the reference.
  ...[...lists.map((range) => [range, '']), ...maps.map((range) => [range, '.size()'])].flatMap(([range, end]) => [
    `${range}.map(x, [x])${end}`,
    `${range}.map(x, x != x, x)${end}`,
    `${range}.filter(x, x == x)${end}`,
    `${range}.transformList(k, v, v)${end}`,
    `${range}.transformList(k, v, k == k, v)${end}`,
  ]),
  ...lists.map((range) => `${range}.sortBy(x, x == x ? 1 : 0)`),
  ...lists.map((range) => `${range}.transformMapEntry(i, v, {i: v})`),
  ...maps.flatMap((range) => [`${range}.transformMap(k, v, v)`, `${range}.transformMap(k, v, k != '', v)`]),
  ...maps.map((range) => `${range}.transformMapEntry(k, v, k != '', {k: v})`),
  ...['self.s', 'self.obj.b.c', 'self.absent', 'any.map.a', 'self.mo.p.y'].map((field) => `has(${field})`),
  ...['self.?s', 'self.?absent', 'optional.of(self.t)'].flatMap((of) => [
    `${of}.optMap(x, x + 'a')`,
    `${of}.optFlatMap(x, optional.of(x))`,
  ]),
  ...["self.s == 'a' && self.t == 'b'", "self.s != '' || self.t.contains('x')", 'self.b ? self.t : self.s'],
  ...['self.objs[0].l[0]', 'self.mo.p.x', "any['map'].a", 'self.ml[0].name', 'self.obj == self.obj'],
  ...['[self.s, self.t]', '{self.s: self.t}', '[[self.i], self.ints]', 'google.protobuf.Duration{seconds: self.i}'],
].map((expr) => ({ of: 'macros and syntax', expr }));
