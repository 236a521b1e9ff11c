import { catalog } from './attack/templates.js';
import { containersOf } from './attack/field-walk.js';
import { filledObject } from './attack/fill.js';
import { heldMs } from './attack/probe.js';
import { help, readAttackCall } from './run-attack.js';

describe('npm run attack', () => {
  const read = (...words: string[]) => readAttackCall(words, () => 5);

  it('makes one pass over all families with a random seed by default', () => {
    expect(read()).toEqual({
      ...{ seed: 5, minutes: 0, only: [], store: 'memory', match: '' },
      ...{ isJson: false, isProfiled: false, isShort: false, showOverMs: 150 },
    });
  });

  it('accepts options with and without "="', () => {
    const call = read('--seed=7', '--minutes', '0.5', '--only', 'bodies,patches', '--store=embedded', '--json');
    expect(call).toMatchObject({ seed: 7, minutes: 0.5, only: ['bodies', 'patches'], store: 'embedded', isJson: true });
  });

  it('documents every option in its help', () => {
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
    expect(read('--show-over=90').showOverMs).toBe(90);
  });

  it.each([
    ['--fast', "Unknown option '--fast'"],
    ['--seed x', '--seed takes a number, not "x"'],
    ['--store etcd', '--store takes memory, embedded, not "etcd"'],
    ['--only everything', /--only takes .*, not "everything"/],
  ])('refuses %s', (words, message) => {
    expect(() => read(...words.split(' '))).toThrow(message);
  });
});

describe('hold of the event loop', () => {
  it.each([
    ['CPU time if other programs use the machine', { wallMs: 900, cpuMs: 20 }, 20],
    ['time on the clock if a question was answered in between', { wallMs: 30, cpuMs: 90 }, 30],
    ['time on the clock if the system has no CPU time', { wallMs: 30, cpuMs: Number.NaN }, 30],
  ])('counts %s', (_about, hold, ms) => {
    expect(heldMs(hold)).toBe(ms);
  });
});

describe('a filled list', () => {
  const pod = catalog.kind('', 'v1', 'Pod')!;
  const containers = containersOf(pod);
  const titled = (title: string) => containers.find((container) => container.title === title)!;

  it('is found at any depth, and a recursive type only once', () => {
    expect(containers.length).toBeGreaterThan(100);
    expect(titled('spec.containers[].env').steps).toEqual(['spec', 'containers', 0, 'env']);
    expect(containersOf(catalog.kind('apiextensions.k8s.io', 'v1', 'CustomResourceDefinition')!).length).toBeLessThan(
      200,
    );
  });

  it('has as many entries as fit, instead of the existing ones', () => {
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
