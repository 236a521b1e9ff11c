import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../src/config/config-files.js';
import { productVersion } from '../src/config/version.js';
import { asCommand, print } from './as-command.js';
import { readOptions } from './read-options.js';

/** Licences that production dependencies may have: all are permissive. */
const allowedLicences: ReadonlySet<string> = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
  'PSF-2.0',
]);

/** Licences of packages that declare none in package.json; taken from their Readme.md. */
const licencesInReadme: Readonly<Record<string, string>> = { 'pause@0.0.1': 'MIT' };

interface LockedPackage {
  readonly version: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
}

interface Component {
  readonly type: 'library';
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly scope: 'required' | 'optional';
  readonly licenses: readonly { readonly license: { readonly id: string } }[];
  readonly hashes: readonly { readonly alg: 'SHA-512'; readonly content: string }[];
}

interface Sbom {
  readonly bomFormat: 'CycloneDX';
  readonly specVersion: '1.6';
  readonly version: 1;
  readonly metadata: object;
  readonly components: readonly Component[];
}

/**
 * Returns the production dependencies of package-lock.json as a CycloneDX document: the same bytes for the same lock
 * file.
 */
export function makeSbom(root: string): Sbom {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, LockedPackage>;
  };
  const components = new Map<string, Component>();
  for (const [path, locked] of Object.entries(packages)) {
    if (path === '' || locked.dev) continue;
    const component = componentOf(root, path, locked);
    components.set(component.purl, component);
  }
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      component: {
        type: 'application',
        name: 'keelson',
        version: productVersion,
        licenses: [{ license: { id: 'Apache-2.0' } }],
      },
    },
    components: [...components.values()].sort((a, b) => (a.purl < b.purl ? -1 : 1)),
  };
}

function componentOf(root: string, path: string, locked: LockedPackage): Component {
  const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
  const { version, integrity, optional } = locked;
  const licence = locked.license ?? licenceOfPackage(root, path) ?? licencesInReadme[`${name}@${version}`];
  const [algorithm, digest] = (integrity ?? '').split(' ')[0]!.split(/-(.*)/s);
  return {
    type: 'library',
    name,
    version,
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    scope: optional ? 'optional' : 'required',
    licenses: licence === undefined ? [] : [{ license: { id: licence } }],
    hashes:
      algorithm === 'sha512' && digest
        ? [{ alg: 'SHA-512', content: Buffer.from(digest, 'base64').toString('hex') }]
        : [],
  };
}

/** Old packages have `licenses: [{ type }]`, which npm does not copy to the lock file. */
function licenceOfPackage(root: string, path: string): string | undefined {
  try {
    const text = readFileSync(join(root, path, 'package.json'), 'utf8');
    return (JSON.parse(text) as { licenses?: { type?: string }[] }).licenses?.[0]?.type;
  } catch {
    return undefined;
  }
}

/** Returns a line for each component without a licence, or with one that is not known to be permissive. */
export function licenceProblems({ components }: Sbom): string[] {
  return components.flatMap(({ name, version, licenses }) => {
    const id = licenses[0]?.license.id;
    if (id === undefined) return [`${name} ${version} names no licence: look for it, and add it to scripts/sbom.ts`];
    return allowedLicences.has(id)
      ? []
      : [`${name} ${version} has the licence ${id}: replace it, or allow the licence`];
  });
}

const help = `npm run sbom
node dist/scripts/sbom.js [options]

Prints the production dependencies of package-lock.json with their licences as a CycloneDX document. Exits with 1 if a
licence is missing, or is not known to be permissive.

  --help   prints this help`;

async function main(words: readonly string[]): Promise<number> {
  readOptions(words, {});
  const sbom = makeSbom(packageRoot);
  print(JSON.stringify(sbom, null, 2));
  const problems = licenceProblems(sbom);
  for (const problem of problems) process.stderr.write(`sbom: ${problem}\n`);
  return problems.length === 0 ? 0 : 1;
}

asCommand(import.meta.url, { help, run: main });
