import { help, readFaultCall } from './run-faults.js';

const read = (...words: string[]) => readFaultCall(words, () => 4711);

describe('command line of the fault run', () => {
  it('makes one run of a minute with a random seed by default', () =>
    expect(read()).toEqual({
      ...{ isVerbose: false, minutes: 0, seconds: 60, seed: 4711, servers: 2, workers: 1, writers: 12, only: [] },
    }));

  it('accepts options with and without "="', () =>
    expect(read('--seed=7', '--minutes', '0.5', '--only', 'compact,garbage', '--verbose')).toMatchObject({
      ...{ seed: 7, minutes: 0.5, only: ['compact', 'garbage'], isVerbose: true },
    }));

  it('lets workers fail only if servers have some', () => {
    expect(read('--workers=2', '--only=kill-worker')).toMatchObject({ workers: 2, only: ['kill-worker'] });
    expect(() => read('--only=kill-worker')).toThrow('not "kill-worker"');
  });

  it('documents every option in its help', () =>
    expect([...help.matchAll(/^ {2}(--[\w-]+)/gm)].map(([, option]) => option)).toEqual(
      ['minutes', 'seconds', 'seed', 'servers', 'workers', 'writers', 'only', 'verbose', 'help'].map(
        (name) => `--${name}`,
      ),
    ));

  it.each([
    ['--fast', "Unknown option '--fast'"],
    ['--seed x', '--seed takes a number, not "x"'],
    ['--only everything', /--only takes .*, not "everything"/],
  ])('refuses %s', (words, message) => expect(() => read(...words.split(' '))).toThrow(message));
});
