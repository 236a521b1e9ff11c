import { join } from 'node:path';
import { packageRoot } from '../../src/config/config-files.js';
import { unpackedIn, unpackPackages, type Unpacked } from '../debian/unpack-packages.js';

/** The archive keeps only the newest version of a suite: generated files name the one they were made from. */
const suite = 'sid';
const names = [
  'golang-k8s-api-dev',
  'golang-k8s-apiextensions-apiserver-dev',
  'golang-k8s-apimachinery-dev',
  'golang-k8s-client-go-dev',
];

export interface GoPackages {
  /** The directory that contains `k8s.io/`. */
  readonly sources: string;
  /** `golang-k8s-api-dev 0.36.4-1, …` */
  readonly provenance: string;
}

const folder = () => join(packageRoot, '.cache/go-packages');

/** Fetches the published Go types from Debian's packages, unless they were fetched before. */
export async function goPackages(): Promise<GoPackages> {
  return fetchedGoPackages() ?? asSources(await unpackPackages(folder(), suite, names));
}

export function fetchedGoPackages(): GoPackages | undefined {
  const unpacked = unpackedIn(folder());
  return unpacked && asSources(unpacked);
}

function asSources({ root, versions }: Unpacked): GoPackages {
  return {
    sources: join(root, 'usr/share/gocode/src'),
    provenance: `${versions.join(', ')} (Debian ${suite})`,
  };
}
