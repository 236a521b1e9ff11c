import { execFile } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { startKeelson } from '../../src/testing.js';

/** The example of keelson/client in README.md, in a program that has only the packed package and its dependencies. */
const root = join(__dirname, '../..');
const run = promisify(execFile);
const directory = mkdtempSync(join(tmpdir(), 'keelson-packed-'));
const app = join(directory, 'app');

const blocks = readFileSync(join(root, 'README.md'), 'utf8').matchAll(/^```ts\n([^]*?)^```/gm);
const example = [...blocks].map(([, code]) => code!).find((code) => code.includes("from 'keelson/client'"))!;

/** Links a package of this repository as npm would install it. */
function link(name: string): void {
  const path = join(app, 'node_modules', name);
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(realpathSync(join(root, 'node_modules', name)), path);
}

beforeAll(async () => {
  // As npm install of the packed file, without a registry: only declared dependencies are found.
  const env = { ...process.env, npm_config_cache: join(directory, 'cache'), npm_config_update_notifier: 'false' };
  await run('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', directory], { cwd: root, env });
  const { name, version, dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly name: string;
    readonly version: string;
    readonly dependencies: Readonly<Record<string, string>>;
  };
  mkdirSync(join(app, 'node_modules'), { recursive: true });
  await run('tar', ['-xzf', `${name}-${version}.tgz`], { cwd: directory });
  renameSync(join(directory, 'package'), join(app, 'node_modules', name));
  Object.keys(dependencies).forEach(link);
  link('@types/node');
  writeFileSync(join(app, 'package.json'), '{"type":"module"}');
  writeFileSync(join(app, 'example.ts'), example);
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

it('is short', () => {
  expect(example.trim().split('\n').length).toBeLessThanOrEqual(12);
});

it('prints what its comment says', async () => {
  const keelson = await startKeelson();
  try {
    const env = { ...process.env, KUBECONFIG: await keelson.kubeconfigFile() };
    const args = ['--input-type=module', '--eval', example];
    const { stdout } = await run(process.execPath, args, { cwd: app, env });
    expect(stdout).toBe('ADDED seen\n');
  } finally {
    await keelson.stop();
  }
});

it('has types, also in declarations of the package', async () => {
  const words = ['--strict', '--noEmit', '--module', 'nodenext', '--target', 'es2022', '--types', 'node', 'example.ts'];
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const failure = await run(process.execPath, [compiler, ...words], { cwd: app }).then(
    () => '',
    ({ stdout }: { stdout: string }) => stdout,
  );
  expect(failure).toBe('');
});
