import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureSetup, isInstalled, SetupError } from './ensure-setup.mjs';

let root: string;
let done: string[];

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'ensure-setup-'));
  done = [];
  for (const [name, content] of Object.entries({
    'package.json': '{}',
    'package-lock.json': '{"lockfileVersion":3}',
    'tsconfig.build.json': '{}',
    'src/a.ts': 'export const a = 1;',
    'src/deep/b.ts': 'export const b = 1;',
    'src/a.spec.ts': '',
  })) {
    write(name, content);
  }
});
afterEach(() => rmSync(root, { recursive: true }));

const write = (name: string, content: string) => {
  mkdirSync(join(root, name, '..'), { recursive: true });
  writeFileSync(join(root, name), content);
};

const run = (build?: () => void) =>
  ensureSetup({
    root,
    log: () => undefined,
    install: async () => {
      done.push('install');
      rmSync(join(root, 'node_modules'), { recursive: true, force: true });
      mkdirSync(join(root, 'node_modules'));
    },
    build: async () => {
      done.push('build');
      build?.();
      write('dist/.tsbuildinfo', '');
    },
  });

test('the first run installs and builds, the second does nothing', async () => {
  await run();
  expect(done).toEqual(['install', 'build']);
  await run();
  expect(done).toHaveLength(2);
});

test.each<{ name: string; change: () => void; want: string[] }>([
  { name: 'an edited source', change: () => write('src/a.ts', 'export const a = 22;'), want: ['build'] },
  { name: 'a new source', change: () => write('src/c.ts', ''), want: ['build'] },
  { name: 'a source that went', change: () => rmSync(join(root, 'src/deep/b.ts')), want: ['build'] },
  { name: 'an older copy of a source', change: () => utimesSync(join(root, 'src/a.ts'), 1, 1), want: ['build'] },
  { name: 'a changed build setting', change: () => write('tsconfig.build.json', '{ }'), want: ['build'] },
  { name: 'an edited test', change: () => write('src/a.spec.ts', 'test'), want: [] },
  { name: 'a build that was deleted', change: () => rmSync(join(root, 'dist'), { recursive: true }), want: ['build'] },
  { name: 'other dependencies', change: () => write('package-lock.json', '{}'), want: ['install', 'build'] },
  {
    name: 'no dependencies',
    change: () => rmSync(join(root, 'node_modules'), { recursive: true }),
    want: ['install', 'build'],
  },
])('after $name it does $want', async ({ change, want }) => {
  await run();
  done = [];
  change();
  await run();
  expect(done).toEqual(want);
});

test('a build that fails is tried again, and the lock is free', async () => {
  const failing = run(() => {
    throw new SetupError('no');
  });
  await expect(failing).rejects.toThrow('no');
  await run();
  expect(done).toEqual(['install', 'build', 'build']);
});

test('a source that is edited during the build is built by the next run', async () => {
  await run(() => write('src/a.ts', 'export const a = 333;'));
  done = [];
  await run();
  expect(done).toEqual(['build']);
});

test('runs at the same time do the work once', async () => {
  await Promise.all([run(), run(), run()]);
  expect(done).toEqual(['install', 'build']);
  expect(existsSync(join(root, '.cache/ensure-setup.lock'))).toBe(false);
});

test('a lock left by a process that is gone is taken over', async () => {
  const gone = spawnSync(process.execPath, ['-e', '']).pid;
  write('.cache/ensure-setup.lock', String(gone));
  await run();
  expect(done).toEqual(['install', 'build']);
});

test.each<{ name: string; installed: object | undefined; want: boolean }>([
  {
    name: 'all of it',
    installed: { 'node_modules/a': { version: '1.0.0' }, 'node_modules/b': { version: '2.0.0' } },
    want: true,
  },
  { name: 'all but what is optional', installed: { 'node_modules/a': { version: '1.0.0' } }, want: true },
  { name: 'another version', installed: { 'node_modules/a': { version: '1.0.1' } }, want: false },
  { name: 'a part', installed: { 'node_modules/b': { version: '2.0.0' } }, want: false },
  { name: 'nothing', installed: undefined, want: false },
])('what npm has installed by hand: $name', ({ installed, want }) => {
  const packages = {
    '': {},
    'node_modules/a': { version: '1.0.0' },
    'node_modules/b': { version: '2.0.0', optional: true },
  };
  write('package-lock.json', JSON.stringify({ packages }));
  if (installed) write('node_modules/.package-lock.json', JSON.stringify({ packages: installed }));
  expect(isInstalled(root)).toBe(want);
});
