import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const top = join(__dirname, '../..');
const { resolve } = createRequire(join(top, 'package.json'));
const vitest = existsSync(join(top, 'node_modules/vitest/package.json')) ? resolve('vitest/package.json') : undefined;

/** Runs one file in a package that has installed Keelson. */
const runners = {
  Jest: {
    words: ['--experimental-vm-modules', join(dirname(resolve('jest/package.json')), 'bin/jest.js'), '--transform={}'],
    begin: '',
  },
  'node:test': { words: ['--test', 'one.test.js'], begin: "import { test } from 'node:test';" },
  Vitest: {
    words: [vitest === undefined ? '' : join(dirname(vitest), 'vitest.mjs'), 'run'],
    begin: "import { test } from 'vitest';",
  },
};

let directory: string;
beforeEach(() => void (directory = mkdtempSync(join(tmpdir(), 'keelson-suite-'))));
afterEach(() => rmSync(directory, { recursive: true }));

describe('the line of docs/testing.md that sets up', () => {
  const lines = readFileSync(join(top, 'docs/testing.md'), 'utf8');
  for (const [name, { words, begin }] of Object.entries(runners)) {
    if (name === 'Vitest' && vitest === undefined) {
      process.stderr.write('skipped: the set-up of Vitest: not found; `npm install --no-save vitest` installs it\n');
      it.skip(`${name} (not found)`, () => undefined);
      continue;
    }
    it(`${name} starts a server with definitions, and resets it after each test`, () => {
      const line = lines.split(`| ${name} | \``)[1]?.split('` |')[0];
      expect(line).toContain("crds: ['config/crd']");
      mkdirSync(join(directory, 'config'));
      symlinkSync(join(top, 'examples/go-operator'), join(directory, 'config/crd'));
      symlinkSync(top, join(mkdirSync(join(directory, 'node_modules'), { recursive: true })!, 'keelson'));
      if (vitest !== undefined) symlinkSync(dirname(vitest), join(directory, 'node_modules/vitest'));
      writeFileSync(join(directory, 'package.json'), '{ "type": "module" }');
      writeFileSync(
        join(directory, 'one.test.js'),
        `${begin}
         import { setUpKeelson } from 'keelson/testing';
         ${line}
         const widgets = '/apis/example.com/v1/namespaces/default/widgets';
         const widget = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w' }, spec: { colour: 'red' } };
         for (const n of [1, 2]) test('create ' + n, async () => void (await keelson().api.create(widgets, widget)));`,
      );
      const { status, stdout, stderr } = spawnSync(process.execPath, words, {
        cwd: directory,
        encoding: 'utf8',
        env: { PATH: process.env['PATH'], NODE_OPTIONS: '' },
      });
      expect({ status, output: status === 0 ? '' : stdout + stderr }).toEqual({ status: 0, output: '' });
      expect(stdout + stderr).toMatch(/(pass|Tests) +2\b|Tests: +2 passed/);
    });
  }
});
