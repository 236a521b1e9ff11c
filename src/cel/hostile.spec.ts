import { cpuMsOf } from '../../test/harness/cpu-time.js';
import { SeededRng } from '../std/rng.js';
import { schemaType } from './declared/schema-type.js';
import { kubernetesEnvironment } from './kubernetes.js';
import { re2Engine } from './re2-engine.js';
import { types } from './types.js';

const environment = kubernetesEnvironment({
  regex: re2Engine(),
  compatibilityVersion: { major: 1, minor: 36 },
  mode: 'new',
  variables: { any: types.dyn, text: types.string },
});
const bindings = { any: { list: Array.from({ length: 20_000 }, (_, index) => index) }, text: 'abc '.repeat(20_000) };
const costLimit = 1_000_000;

// Modules call each other several times slower here than in the bundle: a compilation takes 50 ms there for 10,000
// characters, an evaluation 200 ms.
/** CPU time of an expression of 10,000 characters, and of one of 100,000. */
const [compilationMsMax, longCompilationMsMax] = [150, 1000];
/** CPU time of an evaluation with the cost limit of Kubernetes, and with a cost near 0. */
const [evaluationMsMax, cheapEvaluationMsMax] = [800, 200];

type Compiled = ReturnType<typeof environment.compile>;

function compileWithin(expression: string, msMax: number): Compiled {
  let compiled: Compiled | undefined;
  expect(cpuMsOf(() => (compiled = environment.compile(expression)), msMax)).toBeLessThan(msMax);
  return compiled!;
}

function programOf(expression: string, within = environment) {
  const compiled = within.compile(expression);
  if (!compiled.isOk) throw new Error(compiled.message);
  if (compiled.program instanceof Error) throw compiled.program;
  return compiled.program;
}

describe('expressions made to exhaust a server', () => {
  it.each<[string, string, string]>([
    ['10,000 parentheses', `${'('.repeat(10_000)}1${')'.repeat(10_000)}`, 'expression recursion limit exceeded: 250'],
    ['10,000 open parentheses', '('.repeat(10_000), 'expression recursion limit exceeded: 250'],
    ['10,000 lists', `${'['.repeat(10_000)}${']'.repeat(10_000)}`, 'expression recursion limit exceeded: 250'],
    ['240 lists with a mistake', `${'['.repeat(240)}>`, "mismatched input '>' expecting"],
    ['240 parentheses, lists and maps with a mistake', `${'([{a.b(?'.repeat(60)}>`, 'Syntax error'],
    ['10,000 maps', '{1:'.repeat(10_000), 'expression recursion limit exceeded: 250'],
    ['10,000 conditionals', 'true?1:'.repeat(10_000), 'expression recursion limit exceeded: 250'],
    ['10,000 sums', `1${'+1'.repeat(10_000)}`, 'max recursion depth exceeded'],
    ['10,000 selections', `any${'.a'.repeat(10_000)}`, 'max recursion depth exceeded'],
    ['10,000 calls', `any${'.size()'.repeat(10_000)}`, 'max recursion depth exceeded'],
    ['200,000 characters', '1'.repeat(200_000), 'expression code point size exceeds limit: size: 200000, limit 100000'],
    ['100,000 characters that are no tokens', '#'.repeat(100_000), 'token recognition error'],
    ['100,000 closing parentheses', ')'.repeat(100_000), 'Syntax error'],
    ['50,000 commas', ','.repeat(50_000), 'Syntax error'],
    ['an open text', `'${'a'.repeat(90_000)}`, 'token recognition error'],
  ])('%s are refused', (_, expression, message) => {
    const compiled = compileWithin(expression, longCompilationMsMax);
    expect(compiled.isOk ? '' : compiled.message).toContain(message);
  });

  it.each<[string, string, string]>([
    [
      '25 optionals whose macros copy their targets',
      `optional.of(1)${'.optMap(x, x)'.repeat(25)}`,
      'expression too large',
    ],
    [
      '40 types of which each contains the last one twice',
      `[1]${'.map(x, {x: x})'.repeat(40)}`,
      'expression too large',
    ],
    ['the same types with unknown elements', `[]${'.map(x, {x: x})'.repeat(40)}`, 'expression too large'],
    ['100 patterns of 1,000 states', repeated((n) => `text.matches('a{1000}${n}')`, 100), 'expression too large'],
    ['patterns that are too large', `text.matches('${'(a{100}){100}'.repeat(9)}')`, 'expression too large'],
    ['200 deep chains of selections', `[${repeated(() => `any${'.a'.repeat(240)}`, 200, ',')}]`, ''],
    ['deep optionals', `${'any.optMap(x, '.repeat(240)}x${')'.repeat(240)}`, ''],
    ['a chain of lists of unknown elements', `[]${'.map(x, [x])'.repeat(240)}`, ''],
    ['sums of empty lists', `[${repeated(() => `[]${' + []'.repeat(100)}`, 15, ',')}]`, ''],
    ['1,600 comparisons of large types', comparisonsOfLargeTypes(), 'expression too large'],
    ['optional elements', `[${'?any,'.repeat(1900)}]`, ''],
    [
      '400 errors that name large types',
      `[1]${'.map(x, {x: x})'.repeat(7)}.map(x, [${'x + 1,'.repeat(400)}])`,
      'more errors',
    ],
  ])('%s take no longer than other expressions', (_, expression, message) => {
    const compiled = compileWithin(expression, expression.length > 10_000 ? longCompilationMsMax : compilationMsMax);
    expect(compiled.isOk ? '' : compiled.message).toContain(message);
  });

  it.each<[string, string]>([
    ['10,000 minus signs', `${'-'.repeat(10_000)}1 == 1`],
    ['10,000 exclamation marks', `${'!'.repeat(10_000)}true`],
    ['10,000 terms', Array(10_000).fill('true').join(' && ')],
    ['a list of 20,000 elements', `[${Array(20_000).fill('1').join(',')}].size() == 20000`],
  ])('%s are accepted', (_, expression) => {
    compileWithin(expression, longCompilationMsMax);
    expect(programOf(expression).evaluate({}, { costLimit }).isOk).toBe(true);
  });

  it.each<[string, string]>([
    ['nested loops', 'any.list.all(a, any.list.all(b, a + b >= 0))'],
    ['loops over ranges', 'lists.range(100000000).all(a, lists.range(100000000).all(b, a == b))'],
    ['a range of all ints', 'lists.range(9223372036854775807).size() > 0'],
    ['a text replaced by itself', `text${".replace('a', text)".repeat(6)}.size() > 0`],
    ['characters between texts', `text${".replace('', text)".repeat(3)}.size() > 0`],
    ['joined texts', "any.list.map(x, text).join(text).split('').size() > 0"],
    ['a sorted list', 'any.list.map(x, string(x)).sort().distinct().size() > 0'],
    ['sets', 'sets.equivalent(any.list, any.list)'],
    ['texts compared', "any.list.all(x, text + 'x' != text + 'y')"],
    ['a text looked for', 'any.list.exists(x, text.contains(text + text))'],
  ])('%s are ended by the limit of costs', (_, expression) => {
    const program = programOf(expression);
    let outcome: ReturnType<typeof program.evaluate> | undefined;
    expect(cpuMsOf(() => (outcome = program.evaluate(bindings, { costLimit })), evaluationMsMax)).toBeLessThan(
      evaluationMsMax,
    );
    expect(outcome!.isOk ? undefined : outcome!.error).toBe('operation cancelled: actual cost limit exceeded');
  });

  it.each<[string, string]>([
    ['long sums of lists', `(any.list${' + any.list'.repeat(200)}).all(x, x < 0)`],
    [
      'exponential patterns',
      "text.matches('(a|a|b|[a-c]+)*$') && text.matches('((a*)*)*z') && text.matches('(.*)*(.*)*y')",
    ],
  ])('%s are computed at once', (_, expression) => {
    const program = programOf(expression);
    const evaluate = (): void => expect(program.evaluate(bindings, { costLimit })).toMatchObject({ value: false });
    expect(cpuMsOf(evaluate, evaluationMsMax)).toBeLessThan(evaluationMsMax);
  });

  it.each<[string, string, string]>([
    ['spaces between letters that are trimmed', 'text.trim() != text', `a${' '.repeat(1_000_000)}b`],
    ['digits that are no double', 'double(text) > 0.0', `${'1'.repeat(1_000_000)}x`],
    ['digits that are no hexadecimal double', 'double(text) > 0.0', `0x${'1'.repeat(1_000_000)}x`],
    ['digits that exceed an int', 'int(text) > 0', '9'.repeat(1_000_000)],
    ['digits that exceed a uint', 'uint(text) > 0u', '9'.repeat(1_000_000)],
    ['digits that exceed a duration', "duration(text) > duration('1s')", `${'9'.repeat(1_000_000)}h`],
  ])('1,000,000 %s are read in linear time', (_, expression, long) => {
    const program = programOf(expression);
    let outcome: ReturnType<typeof program.evaluate> | undefined;
    expect(cpuMsOf(() => (outcome = program.evaluate({ text: long }, { costLimit })))).toBeLessThan(
      cheapEvaluationMsMax,
    );
    expect(outcome).not.toMatchObject({ value: true });
  });

  it('doubling a list 60 times ends the evaluation', () => {
    const doubled = Array.from({ length: 60 }).reduce<string>((list) => `[${list}].map(l, l + l)[0]`, '[1, 2]');
    expect(programOf(`${doubled}.size() > 0`).evaluate(bindings, { costLimit })).toMatchObject({
      isOk: false,
      isOverLimit: true,
    });
  });

  it('names of prototypes are no keys', () => {
    const program = programOf("has(any.constructor) || '__proto__' in any");
    expect(program.evaluate(bindings, { costLimit })).toMatchObject({ isOk: true, value: false });
  });
});

function repeated(term: (index: number) => string, count: number, separator = ' && '): string {
  return Array.from({ length: count }, (_, index) => term(index)).join(separator);
}

/** Compares two values whose types are equal, large, and not the same in memory. */
function comparisonsOfLargeTypes(): string {
  const large = `[]${'.map(x, {x: x})'.repeat(8)}`;
  return `${large}.all(a, ${large}.all(b, ${repeated(() => 'a==b', 1600, '&&')}))`;
}

describe('searches of patterns', () => {
  const long = 100_000;
  const rng = new SeededRng(1);
  /** A text in which some patterns reach a new state with each character. */
  const random = (size: number): string =>
    Array.from({ length: size }, () => (rng.below(2) === 0 ? 'a' : 'b')).join('');
  const inputs = {
    text: 'a'.repeat(long),
    domain: `${'a1-b.'.repeat(long / 5)}a`,
    line: 'error at line 12, '.repeat(long / 18),
    large: 'a'.repeat(3 << 20),
    random: random(300_000),
    texts: Array.from({ length: 5000 }, () => random(300)),
    labels: Array.from({ length: 5000 }, (_, at) => `label-of-app-${at}`),
  };
  const searching = kubernetesEnvironment({
    regex: re2Engine(),
    compatibilityVersion: { major: 1, minor: 36 },
    mode: 'new',
    variables: Object.fromEntries(Object.keys(inputs).map((name) => [name, types.dyn])),
  });
  const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
  const identifiers = '(0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)([.](0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*))*';
  const version = `^[0-9]+[.][0-9]+[.][0-9]+(-${identifiers})?([+][0-9a-zA-Z-]+)?$`;

  it.each<[string, string]>([
    ['a label', `text.matches('^${label}$')`],
    ['a domain', `domain.matches('^${label}([.]${label})*$') && domain.find('^${label}([.]${label})*$') == domain`],
    ['a version', `!('1.2.3-' + text + '_').matches('${version}')`],
    ['alternatives', "!line.matches('(panic|fatal|abort)') && line.matches('(panic|line 13|line 12)')"],
    ['found alternatives', "line.find('(panic|fatal|line 13)') == ''"],
    ['all found words', "line.findAll('[a-z]+').size() > 0"],
    ['all found alternatives', "line.findAll('(error|[0-9]+)').size() > 0"],
    ['5,000 labels', `labels.all(l, l.matches('^${label}$'))`],
    [
      'nested quantifiers',
      "text.matches('(a|a|b|[a-c]+)*$') && text.find('(a+)+$') != '' && !text.matches('((a*)*)*z')",
    ],
    ['a letter that 3 MiB do not have', "!large.matches('b')"],
    ['the begin of 3 MiB', "large.matches('^a+')"],
  ])('of everyday patterns do not end an evaluation: %s', (_, expression) => {
    expect(outcomesOf(expression)).toMatchObject([{ isOk: true, value: true }]);
  });

  it.each<[string, string]>([
    ['nested quantifiers in a loop', "lists.range(20000).all(i, text.find('(a+)+$') != '')"],
    ['nested quantifiers in 3 MiB', "large.matches('(a+)+b') || large.matches('((a*)*)*b')"],
    ['matches that are searched to the end', "text.findAll('.*z|a').size() > 0"],
    ['matches that are searched to the end of 3 MiB', "large.findAll('.*z|a').size() > 0"],
    ['empty matches', "large.findAll('').size() > 0"],
    ['1,000 threads', "lists.range(20000).all(i, !text.matches('[ab]{1000}c'))"],
    ['1,000 threads in 3 MiB', "large.find('[ab]{1000}c') == ''"],
    ['a state for each character', "random.matches('a[ab]{60}c')"],
    ['a state for each character of 5,000 texts', "texts.all(t, !t.matches('[ab]*a[ab]{20}c'))"],
    ['large states', "texts.all(t, !t.matches('(?:a|[ab]{1,400})b[ab]{300}c'))"],
    ['large classes', "texts.all(t, !t.matches('([\\\\p{L}]|[\\\\p{Lu}]|[\\\\p{Ll}x]){1,100}1$'))"],
    ['empty alternatives', "lists.range(20000).all(i, !text.matches('(?:||||||||||||a){90}b'))"],
    ['a new pattern each time', "labels.all(l, !l.matches('(a|b)*b' + l + '!'))"],
  ])('that take long end an evaluation: %s', (_, expression) => {
    let outcomes: unknown;
    expect(cpuMsOf(() => (outcomes = outcomesOf(expression)), 10 * evaluationMsMax)).toBeLessThan(10 * evaluationMsMax);
    expect(outcomes).toMatchObject([{ isOk: false, isOverLimit: true }]);
  });

  /** The distinct outcomes of three evaluations: there is one, whatever states of automata the earlier ones have left. */
  function outcomesOf(expression: string): unknown[] {
    const program = programOf(expression, searching);
    const outcomes = Array.from({ length: 3 }, () => program.evaluate(inputs, { costLimit }));
    return [...new Map(outcomes.map((outcome) => [JSON.stringify(outcome), outcome])).values()];
  }
});

describe('work that costs little', () => {
  const text = { type: 'string' } as const;
  const entry = { type: 'object', properties: { k: text, v: { type: 'integer' } } };
  const schema = {
    type: 'object',
    properties: {
      text,
      wide: text,
      bytes: { type: 'string', format: 'byte' },
      time: { type: 'string', format: 'date-time' },
      list: { type: 'array', items: entry },
      empty: { type: 'array', items: { type: 'object', additionalProperties: text } },
      set: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
      keyed: { type: 'array', items: entry, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] },
      map: { type: 'object', additionalProperties: text },
      longs: { type: 'array', items: text },
    },
  };
  const many = <T>(count: number, item: (index: number) => T): T[] =>
    Array.from({ length: count }, (_, at) => item(at));
  const self = {
    text: 'a'.repeat(1_000_000),
    wide: '\u{1f600}'.repeat(300_000),
    bytes: 'AAAA'.repeat(200_000),
    time: `2024-01-01T00:00:00.${'1'.repeat(500_000)}Z`,
    list: many(10_000, (at) => ({ k: `k${at}`, v: at })),
    empty: many(50_000, () => ({})),
    set: many(20_000, (at) => `s${at}`),
    keyed: many(10_000, (at) => ({ k: `k${at}`, v: at })),
    map: Object.fromEntries(many(20_000, (at) => [`k${at}`, 'v'])),
    longs: many(30, () => 'a'.repeat(100_000)),
  };
  const worlds = { self, oldSelf: structuredClone(self) };
  const declared = schemaType(schema, 'Widget')!;
  const ofObjects = kubernetesEnvironment({
    regex: re2Engine(),
    compatibilityVersion: { major: 1, minor: 36 },
    mode: 'new',
    variables: { self: declared, oldSelf: declared },
  });
  const elementChecks =
    "self.list.all(e, isQuantity(string(e.v)) && isIP('10.0.0.1') && isURL('https://example.com/' + e.k))";
  const nested = (count: number, term: string, separator: string): string => Array(count).fill(term).join(separator);

  it.each<[string, string]>([
    ['objects', 'self == oldSelf'],
    ['lists of objects', 'self.list == oldSelf.list'],
    ['lists of empty objects', 'self.empty == oldSelf.empty'],
    ['sets', 'self.set == oldSelf.set'],
    ['keyed lists', 'self.keyed == oldSelf.keyed'],
    ['maps', 'self.map == oldSelf.map'],
    ['lists with a long text', '[self.text] == [oldSelf.text]'],
    ['an element with all others', 'self.list in [oldSelf.list]'],
    ['sums of sets', '(self.set + oldSelf.set).size() == 20000'],
    ['sums of keyed lists', '(self.keyed + oldSelf.keyed).size() == 10000'],
    ['sizes of wide texts', "self.wide.charAt(1000) != 'a'"],
    ['decoded bytes', 'self.bytes.size() > 0'],
    ['parsed times', 'self.time == oldSelf.time'],
    ['the first key of a map', 'self.map.exists(k, true)'],
    ['texts converted to numbers', "int('1' + string(i)) > 0 && (bool(self.text) || true)"],
    ['indices of empty elements', "self.empty.indexOf({'a': 'b'}) == -1"],
    ['flattened lists', '[self.list].flatten().size() > 0'],
    ['sums of 100 lists', `(${nested(100, 'self.list', ' + ')})[50000].v >= 0`],
    ['15,000 terms', `(${nested(15_000, 'true', '&&')})`],
    ['100 nested conditions', `${'false ? true : '.repeat(100)}true`],
    ['lists of 20,000 constants', `[i, ${nested(20_000, '1', ',')}].size() > 0`],
    ['maps of 2,000 constants', `{'': i, ${many(2000, (at) => `'${at}':1`).join()}}.size() > 0`],
    ['patterns with 1,000 states', "!self.text.substring(0, 10000).matches('[ab]{1000}c')"],
    ['patterns that are built', "!'x'.matches('((a{9}){9}){9}b' + string(i))"],
    ['matches that are searched to the end', "self.text.substring(0, 20000).findAll('.*z|a').size() > 0"],
    ['time zones', "timestamp(i).getHours('Europe/Berlin') >= 0"],
    ['unknown time zones', "timestamp(i).getHours('Nowhere/' + string(i)) >= 0 || true"],
    ['formatted doubles', "'%.1074f'.format([5e-324]) != ''"],
    ['formatted widths', "'%.10000000e'.format([1.0]) != ''"],
    ['formatted lists', "'%s'.format([self.set]) != ''"],
    ['formatted texts', `'${nested(40, '%s', '')}'.format([${nested(40, 'self.text', ',')}]) != ''`],
    ['addresses in errors', 'isIP(self.text) || true'],
    ['escaped paths', "isURL('http://a/' + self.wide) || true"],
    ['copies of slices', 'self.list.slice(0, 1).size() > 0'],
    ['searches in repeated letters', "self.text.lastIndexOf(self.text.substring(0, 400000) + 'b') == -1"],
    ['separators of repeated letters', "self.text.split(self.text.substring(0, 400000) + 'b').size() > 0"],
    ['replaced letters', "self.text.substring(0, 1000).replace('', self.text.substring(0, 40000)) != ''"],
    ['long texts of one length that are sorted', 'self.longs.sort().size() == 30'],
    ['long texts of one length that are compared', 'self.longs.distinct().size() == 1'],
    ['long texts of one length that are measured', 'self.longs.all(l, l.size() > 0)'],
    ['long keys of one length', 'self.longs.all(l, l in {self.longs[0] + string(i): 1, self.longs[1]: 2})'],
    ['found texts', "self.text.find('(a+)+$') != ''"],
    ['URLs', "isURL('https://[2001:db8::1]:8080/' + string(i))"],
    ['texts that are no URL', "!isURL('a b' + string(i))"],
    ['formats of wrong values', "'%d'.format([dyn('a')]) != '' || true"],
    ['addresses', "ip('2001:db8::' + string(i % 9)).family() == 6"],
    ['versions', "semver('1.2.' + string(i)).major() == 1"],
    ['characters beyond the basic plane', "self.wide.charAt(299999) != 'a'"],
  ])('ends an evaluation that repeats it too often: %s', (_, expression) => {
    const program = programOf(`lists.range(200000).all(i, ${expression})`, ofObjects);
    let outcome: ReturnType<typeof program.evaluate> | undefined;
    expect(cpuMsOf(() => (outcome = program.evaluate(worlds, { costLimit })), evaluationMsMax)).toBeLessThan(
      evaluationMsMax,
    );
    expect(outcome).toMatchObject({ isOk: false, isOverLimit: true });
  });

  it.each<[string, string]>([
    ['one comparison of objects', 'self == oldSelf'],
    ['the size of a map in a loop', 'self.list.all(e, self.map.size() > e.v)'],
    ['the size of a text in a loop', 'self.list.all(e, self.wide.size() > e.v)'],
    ['a large element for each of a list', 'self.list.all(e, self.map[e.k] == oldSelf.map[e.k])'],
    ['a long text that is split and joined', "self.text.split('').join('') == self.text"],
    ['a loop that costs 900,000', 'lists.range(150000).all(i, i >= 0)'],
    ['a quantity, an address and a URL for each element', elementChecks],
    ['a built pattern for each of 500', "self.list.slice(0, 500).all(e, e.k.matches('^' + e.k + '$'))"],
  ])('does not end an ordinary evaluation: %s', (_, expression) => {
    const outcome = programOf(expression, ofObjects).evaluate(worlds, { costLimit });
    expect(outcome).toMatchObject({ isOk: true, value: true });
  });

  it('is returned as steps, and bounded by a limit of the caller', () => {
    const program = programOf('self.list == oldSelf.list', ofObjects);
    const { cost, steps } = program.evaluate(worlds, { costLimit });
    expect(cost).toBeLessThan(1100);
    expect(steps).toBeGreaterThan(100_000);
    expect(program.evaluate(worlds, { costLimit, stepLimit: steps })).toMatchObject({ isOk: true, steps });
    expect(program.evaluate(worlds, { costLimit, stepLimit: steps - 1 })).toMatchObject({ isOverLimit: true });
  });
});
