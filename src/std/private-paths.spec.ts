import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makePrivateDirectory, makePrivateFile, tighten, type Access } from './private-paths.js';

let root: string;
let umask: number;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'private-paths-'));
  umask = process.umask(0);
});
afterEach(() => {
  process.umask(umask);
  rmSync(root, { recursive: true });
});

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

test('directories and files are created for their owner only, regardless of the umask', () => {
  const directory = join(root, 'a/b/c');
  makePrivateDirectory(directory);
  makePrivateDirectory(directory);
  makePrivateFile(join(directory, 'file'));
  expect(['a', 'a/b', 'a/b/c', 'a/b/c/file'].map((path) => modeOf(join(root, path)))).toEqual([
    '700',
    '700',
    '700',
    '600',
  ]);
});

test('existing paths keep their mode and contents', () => {
  mkdirSync(join(root, 'open'));
  writeFileSync(join(root, 'open/file'), 'text');
  makePrivateDirectory(join(root, 'open'));
  makePrivateFile(join(root, 'open/file'));
  expect([modeOf(join(root, 'open')), modeOf(join(root, 'open/file')), statSync(join(root, 'open/file')).size]).toEqual(
    ['777', '666', 4],
  );
});

test.each([
  ['below a file', () => join(root, 'file/a'), 'ENOTDIR'],
  ['in place of a file', () => join(root, 'file'), 'EEXIST'],
  ['where nothing can be created', () => '/proc/nothing/here', 'ENOENT'],
])('a directory %s is an error', (_name, path, code) => {
  writeFileSync(join(root, 'file'), '');
  expect(() => makePrivateDirectory(path())).toThrow(expect.objectContaining({ code }) as Error);
});

test.each<{ name: string; make: (path: string) => void; access: Access; mode?: string }>([
  { name: 'a missing path', make: () => undefined, access: 'absent' },
  { name: 'a private file', make: (path) => writeFileSync(path, '', { mode: 0o400 }), access: 'private', mode: '400' },
  { name: 'a world-readable file', make: (path) => writeFileSync(path, ''), access: 'tightened', mode: '600' },
  {
    name: 'a group-readable file',
    make: (path) => writeFileSync(path, '', { mode: 0o640 }),
    access: 'tightened',
    mode: '600',
  },
  { name: 'a world-readable directory', make: (path) => mkdirSync(path), access: 'tightened', mode: '700' },
  {
    name: 'a symbolic link',
    make: (path) => {
      writeFileSync(`${path}-target`, '');
      chmodSync(`${path}-target`, 0o644);
      symlinkSync(`${path}-target`, path);
    },
    access: 'private',
    mode: '644',
  },
])('$name: $access', ({ make, access, mode }) => {
  const path = join(root, 'it');
  make(path);
  expect(tighten(path)).toBe(access);
  if (mode !== undefined) expect(modeOf(path)).toBe(mode);
});
