import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/config/config-files.js';

/** Source files in these folders that are no programs. */
const modules = ['as-command', 'child-processes', 'chromium', 'killed-at-exit', 'read-options', 'scenarios'];

/** The programs of developers. */
const commands = ['scripts', 'bench'].flatMap((folder) =>
  readdirSync(join(packageRoot, folder))
    .filter((name) => /^[^.]+\.ts$/.test(name) && !modules.includes(name.replace(/\.ts$/, '')))
    .map((name) => `dist/${folder}/${name.replace(/ts$/, 'js')}`),
);

function run(command: string, word: string) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [command, word], {
    cwd: packageRoot,
    encoding: 'utf8',
    timeout: 60_000,
  });
  return { status, stdout, stderr };
}

test.each(commands)('%s prints its usage and its options', (command) => {
  const { status, stdout, stderr } = run(command, '--help');
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toContain(`node ${command}`);
  expect(stdout).toMatch(/^ {2}--help +prints this help$/m);
});

/** Passes other words to Jest. */
const withWordsOfJest = 'dist/scripts/run-tests.js';

test.each(commands.filter((command) => command !== withWordsOfJest))('%s refuses an unknown option', (command) => {
  const { status, stdout, stderr } = run(command, '--unheard-of');
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toContain("Unknown option '--unheard-of'");
  expect(stderr).toContain('--help');
});
