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

/** Processor time: other programs do not count. */
function millis(task: () => void): number {
  const start = process.cpuUsage();
  task();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

describe('expressions made to exhaust a server', () => {
  it.each<[string, string, string]>([
    ['10,000 parentheses', `${'('.repeat(10_000)}1${')'.repeat(10_000)}`, 'expression recursion limit exceeded: 250'],
    ['10,000 open parentheses', '('.repeat(10_000), 'expression recursion limit exceeded: 250'],
    ['10,000 lists', `${'['.repeat(10_000)}${']'.repeat(10_000)}`, 'expression recursion limit exceeded: 250'],
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
    let result: ReturnType<typeof environment.compile> | undefined;
    expect(millis(() => (result = environment.compile(expression)))).toBeLessThan(1500);
    expect(result!.isOk ? '' : result!.message).toContain(message);
  });

  it.each<[string, string]>([
    ['10,000 minus signs', `${'-'.repeat(10_000)}1 == 1`],
    ['10,000 exclamation marks', `${'!'.repeat(10_000)}true`],
    ['10,000 terms', Array(10_000).fill('true').join(' && ')],
    ['a list of 20,000 elements', `[${Array(20_000).fill('1').join(',')}].size() == 20000`],
  ])('%s are accepted', (_, expression) => {
    const compiled = environment.compile(expression);
    expect(
      compiled.isOk && !(compiled.program instanceof Error) && compiled.program.evaluate({}, { costLimit }).isOk,
    ).toBe(true);
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
    const compiled = environment.compile(expression);
    if (!compiled.isOk) throw new Error(compiled.message);
    if (compiled.program instanceof Error) throw compiled.program;
    const { program } = compiled;
    let outcome: ReturnType<typeof program.evaluate> | undefined;
    expect(millis(() => (outcome = program.evaluate(bindings, { costLimit })))).toBeLessThan(1500);
    expect(outcome!.isOk ? undefined : outcome!.error).toBe('operation cancelled: actual cost limit exceeded');
  });

  it.each<[string, string]>([
    ['long sums of lists', `(any.list${' + any.list'.repeat(200)}).all(x, x < 0)`],
    [
      'exponential patterns',
      "text.matches('(a|a|b|[a-c]+)*$') && text.matches('((a*)*)*z') && text.matches('(.*)*(.*)*y')",
    ],
  ])('%s are computed at once', (_, expression) => {
    const compiled = environment.compile(expression);
    if (!compiled.isOk || compiled.program instanceof Error) throw new Error('does not compile');
    const { program } = compiled;
    expect(
      millis(() => expect(program.evaluate(bindings, { costLimit })).toMatchObject({ value: false })),
    ).toBeLessThan(1500);
  });

  it.each<[string, string, string]>([
    ['spaces between letters that are trimmed', 'text.trim() != text', `a${' '.repeat(1_000_000)}b`],
    ['digits that are no double', 'double(text) > 0.0', `${'1'.repeat(1_000_000)}x`],
    ['digits that are no hexadecimal double', 'double(text) > 0.0', `0x${'1'.repeat(1_000_000)}x`],
    ['digits that exceed an int', 'int(text) > 0', '9'.repeat(1_000_000)],
    ['digits that exceed a uint', 'uint(text) > 0u', '9'.repeat(1_000_000)],
    ['digits that exceed a duration', "duration(text) > duration('1s')", `${'9'.repeat(1_000_000)}h`],
  ])('1,000,000 %s are read in linear time', (_, expression, long) => {
    const compiled = environment.compile(expression);
    if (!compiled.isOk || compiled.program instanceof Error) throw new Error('does not compile');
    const { program } = compiled;
    let outcome: ReturnType<typeof program.evaluate> | undefined;
    expect(millis(() => (outcome = program.evaluate({ text: long }, { costLimit })))).toBeLessThan(100);
    expect(outcome).not.toMatchObject({ value: true });
  });

  it('doubling a list 60 times ends the evaluation', () => {
    const doubled = Array.from({ length: 60 }).reduce<string>((list) => `[${list}].map(l, l + l)[0]`, '[1, 2]');
    const compiled = environment.compile(`${doubled}.size() > 0`);
    if (!compiled.isOk || compiled.program instanceof Error) throw new Error('does not compile');
    expect(compiled.program.evaluate(bindings, { costLimit })).toMatchObject({ isOk: false, isOverLimit: true });
  });

  it('names of prototypes are no keys', () => {
    const compiled = environment.compile("has(any.constructor) || '__proto__' in any");
    if (!compiled.isOk || compiled.program instanceof Error) throw new Error('does not compile');
    expect(compiled.program.evaluate(bindings, { costLimit })).toMatchObject({ isOk: true, value: false });
  });
});
