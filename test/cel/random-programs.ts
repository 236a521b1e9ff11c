import type { FunctionDeclaration, Overload } from '../../src/cel/check/declarations.js';
import type { DeclaredType } from '../../src/cel/declared/declared-type.js';
import { CelType, listOf, mapOf, opaqueType, optionalOf, types } from '../../src/cel/types.js';
import type { Rng } from '../../src/std/rng.js';

/** A text that has the type, and may be the target of a call. */
interface Named {
  readonly text: string;
  readonly type: CelType;
}

const { bool, bytes, double, duration, int, string, timestamp, uint } = types;
const scalars = [bool, bytes, double, duration, int, string, timestamp, uint];
const opaque = ['kubernetes.Quantity', 'kubernetes.URL', 'kubernetes.Semver', 'net.IP', 'net.CIDR'].map((name) =>
  opaqueType(name),
);

/** Texts that functions look into: times, names, patterns, addresses, and those that are nearly one. */
const texts = [
  ...['', 'a', 'abc', 'hello world', 'h\u00e9llo \u{1f600}', 'a,b,,c', ' pad ', 'A-b_C', 'x'.repeat(70), '%s %d %.2f'],
  ...['1h30m', '-5s', '1.5ms', '2024-02-29T12:34:56.789Z', '0001-01-01T00:00:00Z', '9999-12-31T23:59:59.999999999Z'],
  ...['UTC', 'America/New_York', '+05:30', '-02:00', 'No/Where', '%s', '%d', '%x %X %o %b %e', '%', '%.999f'],
  ...['1500m', '1Gi', '-0.1', '1e3', '1k', '10.0.0.1', '::1', 'fe80::1%eth0', '192.168.0.0/16', '2001:db8::/32'],
  ...['https://u:p@example.com:8443/a%20b?x=1&y=2#f', '/path', 'http://[::1]/', '1.2.3', 'v1.2', '1.0.0-rc.1+b'],
  ...['a+', '(a+)+$', '(a|aa)*b', '^(?:a?){25}a{25}$', '.*.*.*x', '[', '(?=a)', '\\\\p{L}+', 'a{1000}', '(?i)ABC'],
  ...['true', 'FALSE', '12', '-9223372036854775808', '18446744073709551615', '1e400', 'NaN', 'dns1123Label', 'uuid'],
  ...['get', 'fail', 'apps', 'deployments', 'metadata.name=x', 'a in (b,c)', 'key', 'k1', 'name'],
];
const ints = [
  '0',
  '1',
  '-1',
  '2',
  '3',
  '7',
  '250',
  '9223372036854775807',
  '-9223372036854775808',
  '0x7f',
  '4294967296',
];
const doubles = [
  '0.0',
  '1.5',
  '-2.25',
  '1e308',
  '1e-300',
  '9223372036854775808.0',
  "double('NaN')",
  "double('-Infinity')",
];
const operators = new Set(['+', '-', '*', '/', '%', '<', '<=', '>', '>=', '==', '!=', '&&', '||']);

/** Functions that expressions cannot name. */
const isNameable = ({ name }: FunctionDeclaration): boolean => !/@(?!in$)/.test(name) && name !== '_?_:_';

interface RandomProgramsOptions {
  readonly rng: Rng;
  readonly functions: Iterable<FunctionDeclaration>;
  /** The variable `self`, whose fields are read. */
  readonly self: DeclaredType;
  readonly variables: Readonly<Record<string, CelType>>;
}

/**
 * Writes random programs over all functions and macros: most have the right types, some have a wrong one in one place,
 * some are broken texts, and some are deep, wide or repeated.
 */
export class RandomPrograms {
  private readonly overloads: { readonly name: string; readonly overload: Overload }[] = [];
  private readonly named: Named[];
  private locals: Named[] = [];
  private localCount = 0;
  /** The number of expressions that the program may still have. */
  private left = 0;
  /** One in so many expressions has another type than the one that is wanted. */
  private wrongTypeOnceIn = Infinity;
  private readonly rng: Rng;

  constructor({ rng, functions, self, variables }: RandomProgramsOptions) {
    this.rng = rng;
    for (const declared of functions)
      if (isNameable(declared))
        for (const overload of declared.overloads) this.overloads.push({ name: declared.name, overload });
    this.named = Object.entries(variables).map(([text, type]) => ({ text, type }));
    this.addFields('self', self, 0);
  }

  private addFields(text: string, declared: DeclaredType, depth: number): void {
    this.named.push({ text, type: declared.type });
    if (depth > 3) return;
    for (const [name, field] of declared.fields ?? []) this.addFields(`${text}.${name}`, field, depth + 1);
  }

  next(): string {
    this.locals = [];
    this.localCount = 0;
    this.left = 2 + this.rng.below(this.oneIn(40) ? 300 : 20);
    this.wrongTypeOnceIn = this.oneIn(3) ? 25 : Infinity;
    const program = this.oneIn(300) ? this.extreme() : this.expression(this.oneIn(2) ? bool : this.anyType(2), 8);
    return this.oneIn(8) ? this.broken(program) : program;
  }

  private oneIn(count: number): boolean {
    return this.rng.below(count) === 0;
  }
  private pick<T>(of: readonly T[]): T {
    return of[this.rng.below(of.length)]!;
  }
  private repeat<T>(max: number, make: () => T): T[] {
    return Array.from({ length: this.rng.below(max + 1) }, make);
  }

  private anyType(depth: number): CelType {
    if (depth > 0 && this.oneIn(3)) {
      if (this.oneIn(3)) return mapOf(this.pick([string, int, bool, uint]), this.anyType(depth - 1));
      return this.oneIn(4) ? optionalOf(this.anyType(depth - 1)) : listOf(this.anyType(depth - 1));
    }
    return this.oneIn(8) ? this.pick([...opaque, types.dyn, types.type, types.null]) : this.pick(scalars);
  }

  /** An expression of the type, if the program is one without mistakes. */
  private expression(type: CelType, depth: number): string {
    this.left--;
    const wanted = this.oneIn(this.wrongTypeOnceIn) ? this.anyType(1) : type;
    if (depth <= 0 || this.left <= 0) return this.leaf(wanted);
    switch (this.rng.below(10)) {
      case 0:
        return this.leaf(wanted);
      case 1:
        return this.conditional(wanted, depth);
      case 2:
      case 3:
        return this.macro(wanted, depth) ?? this.call(wanted, depth);
      default:
        return this.call(wanted, depth);
    }
  }

  private conditional(type: CelType, depth: number): string {
    const [truthy, falsy] = [this.expression(type, depth - 1), this.expression(type, depth - 1)];
    return `(${this.expression(bool, depth - 1)} ? ${truthy} : ${falsy})`;
  }

  private leaf(type: CelType): string {
    const known = [...this.locals, ...this.named].filter((name) => name.type.equals(type));
    if (known.length > 0 && !this.oneIn(3)) return this.pick(known).text;
    return this.literal(type);
  }

  private literal(type: CelType): string {
    switch (type.kind) {
      case 'bool':
        return this.pick(['true', 'false']);
      case 'int':
        return this.pick(ints);
      case 'uint':
        return this.pick(['0u', '1u', '7u', '18446744073709551615u', '4294967296u']);
      case 'double':
        return this.pick(doubles);
      case 'string':
        return this.text();
      case 'bytes':
        return `b${this.text()}`;
      case 'duration':
        return `duration('${this.pick(['1s', '-1h', '1.5h', '0s', '2562047h'])}')`;
      case 'timestamp':
        return `timestamp(${this.pick(['0', '1700000000', "'2024-02-29T12:34:56.789Z'", "'9999-12-31T23:59:59Z'"])})`;
      case 'list':
        return `[${this.repeat(3, () => this.leaf(type.params[0]!)).join(', ')}]`;
      case 'map':
        return this.map(type, () => this.leaf(type.params[1]!));
      case 'type':
        return this.pick(['int', 'string', 'list', 'map', 'type', 'net.IP', 'google.protobuf.Timestamp', 'null_type']);
      case 'null':
        return 'null';
      case 'opaque':
        return this.opaqueLiteral(type);
      default:
        return this.pick([
          'any',
          'any.list',
          'any.map',
          'any.nested.deep',
          'any.missing',
          'any.strs',
          'dyn(1)',
          "dyn('a')",
          'dyn(optional.of(1))',
        ]);
    }
  }

  private map(type: CelType, value: () => string): string {
    const keys = new Set(this.repeat(3, () => this.literal(type.params[0]!)));
    return `{${[...keys].map((key) => `${key}: ${value()}`).join(', ')}}`;
  }

  private text(): string {
    return `'${this.pick(texts)}'`;
  }

  private opaqueLiteral(type: CelType): string {
    switch (type.name) {
      case 'optional_type':
        return this.oneIn(3) ? 'optional.none()' : `optional.of(${this.leaf(type.params[0]!)})`;
      case 'kubernetes.Quantity':
        return `quantity('${this.pick(['1', '1500m', '10Gi', '-1e3', '0'])}')`;
      case 'kubernetes.URL':
        return `url('${this.pick(['https://example.com:80/a?b=c', '/x'])}')`;
      case 'kubernetes.Semver':
        return `semver('${this.pick(['1.2.3', '0.0.1-rc.1'])}')`;
      case 'net.IP':
        return `ip('${this.pick(['10.0.0.1', '::1', '255.255.255.255'])}')`;
      case 'net.CIDR':
        return `cidr('${this.pick(['10.0.0.0/8', '::/0'])}')`;
      default:
        return this.leafCall(type);
    }
  }

  /** A call of a function without arguments that returns the type, or the authorizer. */
  private leafCall(type: CelType): string {
    const found = this.overloads.filter(({ overload }) => overload.params.length === 0 && overload.result.equals(type));
    return found.length > 0 ? `${this.pick(found).name}()` : 'authorizer';
  }

  private call(type: CelType, depth: number): string {
    const start = this.rng.below(this.overloads.length);
    for (let offset = 0; offset < this.overloads.length; offset++) {
      const { name, overload } = this.overloads[(start + offset) % this.overloads.length]!;
      const bound = new Map<string, CelType>();
      if (!this.unifies(overload.result, type, bound)) continue;
      // Functions of any type would be chosen for most expressions.
      if (overload.result.kind === 'param' && !this.oneIn(8)) continue;
      const args = overload.params.map((param) => this.expression(this.bound(param, bound), depth - 1));
      return this.written(name, overload.isMember, args);
    }
    return this.leaf(type);
  }

  private unifies(pattern: CelType, type: CelType, bound: Map<string, CelType>): boolean {
    if (pattern.kind === 'param') {
      const known = bound.get(pattern.name);
      if (!known) bound.set(pattern.name, type);
      return !known || known.equals(type);
    }
    if (pattern.kind !== type.kind || pattern.name !== type.name) return false;
    return pattern.params.every((param, index) => this.unifies(param, type.params[index] ?? types.dyn, bound));
  }

  private bound(pattern: CelType, bound: Map<string, CelType>): CelType {
    if (pattern.kind === 'param') {
      let type = bound.get(pattern.name);
      if (!type) bound.set(pattern.name, (type = this.anyType(1)));
      return type;
    }
    if (pattern.params.length === 0) return pattern;
    return new CelType(
      pattern.kind,
      pattern.name,
      pattern.params.map((param) => this.bound(param, bound)),
    );
  }

  private written(name: string, isMember: boolean, args: readonly string[]): string {
    const [first, second] = args;
    if (name === '!_') return `!(${first})`;
    if (name === '-_') return `-(${first})`;
    if (name === '_[_]') return `${first}[${second}]`;
    if (name === '_[?_]') return `${first}[?${second}]`;
    if (name === '_?._') return `${first}.?${this.pick(['map', 'list', 'missing', 'a'])}`;
    if (name === '@in') return `(${first} in ${second})`;
    const operator = /^_(.+)_$/.exec(name)?.[1];
    if (operator !== undefined && operators.has(operator)) return `(${first} ${operator} ${second})`;
    return isMember ? `(${first}).${name}(${args.slice(1).join(', ')})` : `${name}(${args.join(', ')})`;
  }

  private withLocals(variables: readonly CelType[], write: (names: readonly string[]) => string): string {
    const before = this.locals;
    const named = variables.map((type) => ({ text: `v${this.localCount++}`, type }));
    this.locals = [...named, ...before];
    const written = write(named.map(({ text }) => text));
    this.locals = before;
    return written;
  }

  /** A macro whose result has the type, if there is one. */
  private macro(type: CelType, depth: number): string | undefined {
    const element = this.oneIn(2) ? this.pick([int, string]) : this.anyType(1);
    const inner = (of: CelType): string => this.expression(of, depth - 1);
    const list = (): string => inner(listOf(element));
    const map = (): string => inner(mapOf(string, element));
    if (type.kind === 'bool') {
      const test = this.pick(['all', 'exists', 'exists_one']);
      switch (this.rng.below(4)) {
        case 0:
          return this.withLocals([element], ([v]) => `(${list()}).${test}(${v}, ${inner(bool)})`);
        case 1:
          return this.withLocals([string], ([v]) => `(${map()}).${test}(${v}, ${inner(bool)})`);
        case 2:
          return this.withLocals([int, element], ([i, v]) => `(${list()}).${test}(${i}, ${v}, ${inner(bool)})`);
        default:
          return `has(${this.pick(this.named.filter(({ text }) => text.includes('.'))).text})`;
      }
    }
    if (type.kind === 'list') return this.listMacro(type, element, depth);
    if (type.kind === 'map') {
      if (type.params[0]!.kind !== 'string') return this.map(type, () => inner(type.params[1]!));
      const variables = this.oneIn(2) ? [int, element] : [string, element];
      const range = variables[0] === int ? list : map;
      const macro = variables[0] === int ? 'transformMapEntry' : 'transformMap';
      const key = macro === 'transformMap' ? '' : `string(v${this.localCount})`;
      return this.withLocals(variables, ([k, v]) => {
        const value = inner(type.params[1]!);
        return `(${range()}).${macro}(${k}, ${v}, ${key ? `{${key}: ${value}}` : value})`;
      });
    }
    if (!type.isOptional) return undefined;
    const of = inner(optionalOf(element));
    const macro = this.pick(['optMap', 'optFlatMap']);
    return this.withLocals(
      [element],
      ([v]) => `(${of}).${macro}(${v}, ${inner(macro === 'optMap' ? type.params[0]! : type)})`,
    );
  }

  private listMacro(type: CelType, element: CelType, depth: number): string {
    const inner = (of: CelType): string => this.expression(of, depth - 1);
    const result = type.params[0]!;
    switch (this.rng.below(5)) {
      case 0:
        return this.withLocals([result], ([v]) => `(${inner(type)}).filter(${v}, ${inner(bool)})`);
      case 1:
        return this.withLocals([element], ([v]) => `(${inner(listOf(element))}).map(${v}, ${inner(result)})`);
      case 2:
        return this.withLocals(
          [element],
          ([v]) => `(${inner(listOf(element))}).map(${v}, ${inner(bool)}, ${inner(result)})`,
        );
      case 3:
        return this.withLocals(
          [int, element],
          ([i, v]) => `(${inner(listOf(element))}).transformList(${i}, ${v}, ${inner(result)})`,
        );
      default:
        return this.withLocals([result], ([v]) => `(${inner(type)}).sortBy(${v}, ${inner(int)})`);
    }
  }

  /** A program that is deep, wide, or whose work grows by powers. */
  private extreme(): string {
    const count = 1 + this.rng.below(260);
    const operand = this.expression(this.pick([int, string, listOf(int)]), 2);
    const big = this.pick(['any.list', 'self.ints', 'lists.range(1000)', 'lists.range(100000)', 'self.mi']);
    const pattern = this.pick([
      '(a+)+$',
      '^(?:a?){25}a{25}$',
      '(x+x+)+y',
      '(.*)*',
      'a{1,500}',
      '(?:(?:a{30}){30}){30}',
    ]);
    switch (this.rng.below(11)) {
      case 0:
        return Array(count).fill(operand).join(' + ');
      case 1:
        return `${'['.repeat(count)}${operand}${']'.repeat(count)}`;
      case 2:
        return `[${Array(count * 8)
          .fill(operand)
          .join(', ')}]`;
      case 3:
        return `${'('.repeat(count)}${operand}${')'.repeat(count)}`;
      case 4:
        return Array(count * 4)
          .fill(this.expression(bool, 2))
          .join(this.pick([' && ', ' || ']));
      case 5:
        return nested(
          1 + this.rng.below(7),
          (depth, inside) => `${big}.${this.pick(['all', 'exists', 'map', 'filter'])}(n${depth}, ${inside})`,
        );
      case 6:
        return `${this.text()}${`.replace('${this.pick(['', 'a'])}', 'aaaa')`.repeat(count % 30)}.matches('${pattern}')`;
      case 7:
        return `${big}.map(x, '${'a'.repeat(count)}' + string(x)).exists(t, t.matches('${pattern}') || t.findAll('${pattern}').size() > 3)`;
      case 8:
        return `[1]${`.map(x, ${this.pick(['{x: x}', '[x, x]', '[x] + [x]'])})`.repeat(count % 45)}`;
      case 9:
        return `optional.of(${operand})${'.optMap(x, x)'.repeat(count % 30)}`;
      default:
        return `${big}${this.pick(['.sort()', '.distinct()', '.flatten()', '.reverse()', '.sum()', '.join()'])} == ${big}`;
    }
  }

  /** The text with a few tokens removed, doubled, exchanged or inserted. */
  private broken(program: string): string {
    const tokens = program.match(/\w+|\s+|[^\w\s]/gu) ?? [];
    const others = [
      ...'()[]{}.,?:+-*/%<>=!&|\'"\\`@#\u0000\u{1f600}',
      'in',
      'null',
      'true',
      '1',
      'x',
      '__result__',
      '0x',
      '1e',
    ];
    for (let change = 1 + this.rng.below(3); change > 0; change--) {
      const at = this.rng.below(tokens.length + 1);
      const token = tokens[at] ?? '';
      switch (this.rng.below(4)) {
        case 0:
          tokens.splice(at, 1);
          break;
        case 1:
          tokens.splice(at, 0, token);
          break;
        case 2:
          tokens.splice(at, 0, this.pick(others));
          break;
        default:
          tokens.splice(at, 1, tokens[this.rng.below(tokens.length)] ?? this.pick(others));
      }
    }
    return tokens.join('');
  }
}

function nested(depth: number, around: (depth: number, inside: string) => string): string {
  return depth === 0 ? 'true' : around(depth, nested(depth - 1, around));
}
