import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadAll } from 'js-yaml';
import { packageRoot } from '../../src/config/config-files.js';
import type { KubeObject } from '../../src/machinery/kube-object.js';

const folder = join(packageRoot, 'test/manifests');

/** One typical object of every stable kind, in an order in which they can be created. */
export function everyManifest(): KubeObject[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.yaml'))
    .sort()
    .flatMap((name) => loadAll(readFileSync(join(folder, name), 'utf8')) as KubeObject[]);
}
