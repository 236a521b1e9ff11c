import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { packageRoot } from '../../src/config/config-files.js';

const directory = mkdtempSync(join(tmpdir(), 'keelson-semi-spaces-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Prints the flags of Node before the program runs. */
const probe = join(directory, 'probe.cjs');
writeFileSync(probe, 'process.stderr.write(JSON.stringify(process.execArgv));');

/** Returns the flags with which a program of the package starts Node. */
function flagsOf(program: string, nodeOptions = ''): unknown {
  const { status, stdout, stderr } = spawnSync(program, ['--version'], {
    encoding: 'utf8',
    env: {
      PATH: `${dirname(process.execPath)}:${process.env['PATH']}`,
      NODE_OPTIONS: `--require=${probe} ${nodeOptions}`,
    },
  });
  expect([status, stdout]).toEqual([0, expect.stringMatching(/^(keelson|Kubernetes) /)]);
  return JSON.parse(stderr);
}

it.each(['keelson', 'kube-apiserver'])('bin/%s starts Node with large semi-spaces, also by a link', (name) => {
  const program = join(packageRoot, 'bin', name);
  expect(flagsOf(program)).toEqual(['--max-semi-space-size=32']);
  const link = join(directory, name);
  symlinkSync(program, link);
  expect(flagsOf(link)).toEqual(['--max-semi-space-size=32']);
});

it('bin/keelson keeps a size of semi-spaces from NODE_OPTIONS', () => {
  const program = join(packageRoot, 'bin/keelson');
  expect(flagsOf(program, '--max-semi-space-size=8')).toEqual([]);
  expect(flagsOf(program, '--max_semi_space_size=8')).toEqual([]);
});
