import { catalog } from './attack/templates.js';
import { containersOf } from './attack/field-walk.js';
import { filledObject } from './attack/fill.js';
import { heldMs } from './attack/probe.js';
import { help, readAttackCall } from './run-attack.js';

describe('npm run attack', () => {
  const read = (...words: string[]) => readAttackCall(words, () => 5);

  it('makes one pass over everything with a seed of its own unless told otherwise', () => {
    expect(read()).toEqual({
      ...{ seed: 5, minutes: 0, only: [], store: 'memory', match: '' },
      ...{ isJson: false, isProfiled: false, isShort: false, isHelp: false, showOverMs: 150 },
    });
  });

  it('takes its options with "=" and without', () => {
    const call = read('--seed=7', '--minutes', '0.5', '--only', 'bodies,patches', '--store=embedded', '--json');
    expect(call).toMatchObject({ seed: 7, minutes: 0.5, only: ['bodies', 'patches'], store: 'embedded', isJson: true });
  });

  it('names every option that it takes in its help', () => {
    expect([...help.matchAll(/^ {2}(--[\w-]+)/gm)].map(([, option]) => option)).toEqual([
      ...[
        '--only',
        '--minutes',
        '--match',
        '--seed',
        '--store',
        '--show-over',
        '--profile',
        '--short',
        '--json',
        '--help',
      ],
    ]);
    expect(read('--help').isHelp).toBe(true);
    expect(read('--show-over=90').showOverMs).toBe(90);
  });

  it.each([
    ['--fast', 'unknown option --fast'],
    ['--seed x', '--seed takes a number, not "x"'],
    ['--store etcd', '--store takes memory or embedded, not "etcd"'],
    ['--only everything', 'no family "everything"'],
  ])('refuses %s', (words, message) => {
    expect(() => read(...words.split(' '))).toThrow(message);
  });
});

describe('the figures of a hold', () => {
  it.each([
    ['the CPU time where others use the machine', { wallMs: 900, cpuMs: 20 }, 20],
    ['the time on the clock where a question was answered in between', { wallMs: 30, cpuMs: 90 }, 30],
    ['the time on the clock where the system tells no other', { wallMs: 30, cpuMs: Number.NaN }, 30],
  ])('count %s', (_about, hold, ms) => {
    expect(heldMs(hold)).toBe(ms);
  });
});

describe('a filled list', () => {
  const pod = catalog.kind('', 'v1', 'Pod')!;
  const containers = containersOf(pod);
  const titled = (title: string) => containers.find((container) => container.title === title)!;

  it('is found however deep it is, and a type inside itself only once', () => {
    expect(containers.length).toBeGreaterThan(100);
    expect(titled('spec.containers[].env').steps).toEqual(['spec', 'containers', 0, 'env']);
    expect(containersOf(catalog.kind('apiextensions.k8s.io', 'v1', 'CustomResourceDefinition')!).length).toBeLessThan(
      200,
    );
  });

  it('has as many entries as fit, in the place of those that were there', () => {
    const object = { spec: { containers: [{ name: 'c', image: 'i' }] } };
    const { text, entries } = filledObject(object, titled('spec.containers'), { style: 'distinct', bytes: 2_000 });
    expect(text.length).toBeLessThanOrEqual(2_000);
    expect(text.length).toBeGreaterThan(1_900);
    const { spec } = JSON.parse(text) as typeof object;
    expect(spec.containers).toHaveLength(entries);
    expect(new Set(spec.containers.map(({ name }) => name)).size).toBe(entries);
    expect(spec.containers[0]).toEqual({ name: 'n0', image: 'i' });
  });
});
