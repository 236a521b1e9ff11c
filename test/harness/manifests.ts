import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadAll } from 'js-yaml';
import { packageRoot } from '../../src/config/config-files.js';
import type { KubeObject } from '../../src/machinery/kube-object.js';

const folder = join(packageRoot, 'test/manifests');

/** One object of every stable kind, as somebody would write it, in the order in which they can be made. */
export function everyManifest(): KubeObject[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.yaml'))
    .sort()
    .flatMap((name) => loadAll(readFileSync(join(folder, name), 'utf8')) as KubeObject[]);
}
