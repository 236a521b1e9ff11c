import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand } from '../harness/command-run.js';

const top = join(__dirname, '../..');
const { dependencies } = JSON.parse(readFileSync(join(top, 'package.json'), 'utf8')) as {
  readonly dependencies: Readonly<Record<string, string>>;
};

/** The modules in the bundle. */
const bundled = JSON.parse(readFileSync(join(top, 'dist/bundle-contents.json'), 'utf8')) as readonly string[];

interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly { readonly functionName: string; readonly ranges: readonly { count: number }[] }[];
  }[];
}

/** Returns the packages whose code a process ran. */
function packagesIn(coverage: string): Set<string> {
  const names = new Set<string>();
  for (const file of readdirSync(coverage)) {
    const { result } = JSON.parse(readFileSync(join(coverage, file), 'utf8')) as Coverage;
    for (const script of result) {
      for (const module of script.url.includes('/dist/bundle/') ? modulesRunIn(script) : [script.url]) {
        const [, name] = /^(?:file:.*\/)?node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(module) ?? [];
        if (name !== undefined) names.add(name);
      }
    }
  }
  return names;
}

/** The bundle has a function for each module, with the module's path as its name, which runs at the first import. */
function modulesRunIn({ functions }: Coverage['result'][number]): string[] {
  const known = new Set(bundled);
  return functions
    .filter(({ functionName, ranges }) => known.has(functionName) && ranges[0]!.count > 0)
    .map(({ functionName }) => functionName);
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
