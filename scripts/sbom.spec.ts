import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../src/config/config-files.js';
import { licenceProblems, makeSbom } from './sbom.js';

test('every production dependency has one exact version, a digest and a permissive licence', () => {
  const sbom = makeSbom(packageRoot);
  expect(licenceProblems(sbom)).toEqual([]);
  for (const { version, hashes, purl } of sbom.components) {
    expect(version).toMatch(/^\d+\.\d+\.\d+/);
    expect({ purl, digests: hashes.length }).toEqual({ purl, digests: 1 });
  }
});

test('includes the dependencies of package.json and no development tools', () => {
  const { dependencies } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  const listed = new Map(makeSbom(packageRoot).components.map(({ name, version }) => [name, version]));
  for (const [name, version] of Object.entries(dependencies)) expect([name, listed.get(name)]).toEqual([name, version]);
  expect(['jest', 'typescript', 'esbuild', 'eslint', 'fast-check'].filter((name) => listed.has(name))).toEqual([]);
});

test.each<{ name: string; locked: object; problem: RegExp }>([
  { name: 'a missing licence', locked: {}, problem: /^a 1\.0\.0 names no licence/ },
  {
    name: 'an unknown licence',
    locked: { license: 'AGPL-3.0' },
    problem: /^a 1\.0\.0 has the licence AGPL-3\.0: replace/,
  },
])('reports $name', ({ locked, problem }) => {
  const root = mkdtempSync(join(tmpdir(), 'sbom-'));
  try {
    const packages = {
      '': {},
      'node_modules/a': { version: '1.0.0', ...locked },
      'node_modules/b': { version: '1.0.0', dev: true },
    };
    writeFileSync(join(root, 'package-lock.json'), JSON.stringify({ packages }));
    expect(licenceProblems(makeSbom(root))).toEqual([expect.stringMatching(problem)]);
  } finally {
    rmSync(root, { recursive: true });
  }
});
