import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startKeelson } from '../../src/testing.js';

const root = join(__dirname, '../..');

it('the example of keelson/client in README.md prints what its comment says', async () => {
  const blocks = readFileSync(join(root, 'README.md'), 'utf8').matchAll(/^```ts\n([^]*?)^```/gm);
  const example = [...blocks].map(([, code]) => code!).find((code) => code.includes("from 'keelson/client'"))!;
  expect(example.trim().split('\n').length).toBeLessThanOrEqual(12);
  const keelson = await startKeelson();
  try {
    const env = { ...process.env, KUBECONFIG: await keelson.kubeconfigFile() };
    const args = ['--input-type=module', '--eval', example];
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root, env });
    expect(stdout).toBe('ADDED seen\n');
  } finally {
    await keelson.stop();
  }
});
