import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureSetup, isInstalled, SetupError, type SetupScope } from './ensure-setup.mjs';

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

const run = (build?: () => void, scope: SetupScope = 'all') =>
  ensureSetup({
    root,
    scope,
    log: () => undefined,
    install: async (_root, _log, wanted) => {
      done.push(wanted === 'all' ? 'install' : 'install for serving');
      rmSync(join(root, 'node_modules'), { recursive: true, force: true });
      mkdirSync(join(root, 'node_modules'));
    },
    build: async () => {
      done.push('build');
      build?.();
      write('dist/.tsbuildinfo', '');
      write('dist/bundle/main.js', '');
    },
    bundle: async () => {
      done.push('bundle');
      write('dist/bundle/main.js', '');
    },
  });
const serve = () => run(undefined, 'serve');

test('the first run installs and builds, the second does nothing', async () => {
  await run();
  expect(done).toEqual(['install', 'build']);
  await run();
  expect(done).toHaveLength(2);
});

test.each<{ name: string; change: () => void; want: string[] }>([
  { name: 'an edited source', change: () => write('src/a.ts', 'export const a = 22;'), want: ['build'] },
  { name: 'a new source', change: () => write('src/c.ts', ''), want: ['build'] },
  { name: 'a removed source', change: () => rmSync(join(root, 'src/deep/b.ts')), want: ['build'] },
  { name: 'an older copy of a source', change: () => utimesSync(join(root, 'src/a.ts'), 1, 1), want: ['build'] },
  { name: 'a changed build setting', change: () => write('tsconfig.build.json', '{ }'), want: ['build'] },
  { name: 'an edited test', change: () => write('src/a.spec.ts', 'test'), want: [] },
  { name: 'a deleted build', change: () => rmSync(join(root, 'dist'), { recursive: true }), want: ['build'] },
  { name: 'changed dependencies', change: () => write('package-lock.json', '{}'), want: ['install', 'build'] },
  {
    name: 'deleted dependencies',
    change: () => rmSync(join(root, 'node_modules'), { recursive: true }),
    want: ['install', 'build'],
  },
])('after $name: $want', async ({ change, want }) => {
  await run();
  done = [];
  change();
  await run();
  expect(done).toEqual(want);
});

test('serving installs and bundles the least, tests then install and build the rest, and serving finds everything', async () => {
  await serve();
  await serve();
  expect(done).toEqual(['install for serving', 'bundle']);
  await run();
  expect(done).toEqual(['install for serving', 'bundle', 'install', 'build']);
  await serve();
  expect(done).toHaveLength(4);
});

test.each<{ name: string; change: () => void; want: string[] }>([
  { name: 'an edited source', change: () => write('src/a.ts', 'export const a = 22;'), want: ['bundle'] },
  { name: 'an edited script', change: () => write('scripts/a.ts', 'export const a = 22;'), want: [] },
  {
    name: 'a deleted bundle',
    change: () => rmSync(join(root, 'dist/bundle'), { recursive: true }),
    want: ['bundle'],
  },
  {
    name: 'changed dependencies',
    change: () => write('package-lock.json', '{}'),
    want: ['install for serving', 'bundle'],
  },
])('after $name, serving: $want', async ({ change, want }) => {
  await serve();
  done = [];
  change();
  await serve();
  expect(done).toEqual(want);
});

test('installed development packages are kept when serving installs others', async () => {
  await run();
  done = [];
  write('package-lock.json', '{}');
  await serve();
  expect(done).toEqual(['install', 'bundle']);
});

test('a failed build is repeated by the next run, and releases the lock', async () => {
  const failing = run(() => {
    throw new SetupError('no');
  });
  await expect(failing).rejects.toThrow('no');
  await run();
  expect(done).toEqual(['install', 'build', 'build']);
});

test('a source edited during the build is built by the next run', async () => {
  await run(() => write('src/a.ts', 'export const a = 333;'));
  done = [];
  await run();
  expect(done).toEqual(['build']);
});

test('concurrent runs do the work once', async () => {
  await Promise.all([run(), run(), run()]);
  expect(done).toEqual(['install', 'build']);
  expect(existsSync(join(root, '.cache/ensure-setup.lock'))).toBe(false);
});

test('the lock of a process that is gone is taken over', async () => {
  const gone = spawnSync(process.execPath, ['-e', '']).pid;
  write('.cache/ensure-setup.lock', String(gone));
  await run();
  expect(done).toEqual(['install', 'build']);
});

test.each<{ name: string; installed: object | undefined; want: boolean; scope?: SetupScope; dev?: boolean }>([
  {
    name: 'all packages',
    installed: { 'node_modules/a': { version: '1.0.0' }, 'node_modules/b': { version: '2.0.0' } },
    want: true,
  },
  { name: 'all packages except optional ones', installed: { 'node_modules/a': { version: '1.0.0' } }, want: true },
  { name: 'another version', installed: { 'node_modules/a': { version: '1.0.1' } }, want: false },
  { name: 'some packages', installed: { 'node_modules/b': { version: '2.0.0' } }, want: false },
  { name: 'nothing', installed: undefined, want: false },
  {
    name: 'the packages for serving',
    installed: { 'node_modules/a': { version: '1.0.0' } },
    want: true,
    scope: 'serve' as const,
    dev: true,
  },
  { name: 'no development packages', installed: { 'node_modules/a': { version: '1.0.0' } }, want: false, dev: true },
])('packages installed by npm itself: $name', ({ installed, want, scope, dev }) => {
  const packages = {
    '': {},
    'node_modules/a': { version: '1.0.0' },
    'node_modules/b': { version: '2.0.0', ...(dev ? { dev } : { optional: true }) },
  };
  write('package-lock.json', JSON.stringify({ packages }));
  if (installed) write('node_modules/.package-lock.json', JSON.stringify({ packages: installed }));
  expect(isInstalled(root, scope)).toBe(want);
});
