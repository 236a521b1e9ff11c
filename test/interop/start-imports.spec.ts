import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { runCommand } from '../harness/command-run.js';

const top = join(__dirname, '../..');
const { dependencies } = JSON.parse(readFileSync(join(top, 'package.json'), 'utf8')) as {
  readonly dependencies: Readonly<Record<string, string>>;
};

/** The modules in each file of the bundle. */
const bundled = JSON.parse(readFileSync(join(top, 'dist/bundle-contents.json'), 'utf8')) as Readonly<
  Record<string, readonly string[]>
>;

/** Returns the packages whose code a process ran. */
function packagesIn(coverage: string): Set<string> {
  const names = new Set<string>();
  for (const file of readdirSync(coverage)) {
    const { result } = JSON.parse(readFileSync(join(coverage, file), 'utf8')) as { result: { url: string }[] };
    for (const { url } of result) {
      for (const module of url.includes('/dist/bundle/') ? bundled[basename(url)]! : [url]) {
        const [, name] = /^(?:file:.*\/)?node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(module) ?? [];
        if (name !== undefined) names.add(name);
      }
    }
  }
  return names;
}

it('a start imports only the packages that it needs', async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'start-imports-'));
  try {
    const words = ['serve', '--secure-port=0', '--storage-backend=memory'];
    // The first start makes certificates.
    const first = await runCommand({ cwd, words });
    expect(await first.stop()).toBe(0);
    const coverage = join(cwd, 'coverage');
    const second = await runCommand({ cwd, words, env: { NODE_V8_COVERAGE: coverage } });
    expect(await second.stop()).toBe(0);
    const imported = packagesIn(coverage);
    expect(Object.keys(dependencies).filter((name) => !imported.has(name))).toEqual([
      '@noble/ciphers',
      '@peculiar/x509',
      'cbor-x',
      'etcd3',
      'fast-json-patch',
      'lmdb',
      'prom-client',
      'protobufjs',
      're2js',
      'ws',
    ]);
  } finally {
    rmSync(cwd, { recursive: true });
  }
});
