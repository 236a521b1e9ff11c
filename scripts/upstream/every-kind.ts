import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadAll } from 'js-yaml';
import { stringifyJson } from '../../src/codec/json.js';
import { packageRoot } from '../../src/config/config-files.js';
import { asFields, asItems, asText, type Fields } from '../../src/machinery/fields.js';
import type { KubeObject } from '../../src/machinery/kube-object.js';
import type { ApiClient } from './api-client.js';

/** An object with the path of its collection. */
export interface Sample {
  readonly name: string;
  readonly object: KubeObject;
  readonly collection: string;
}

/** One object of every stable kind, from the manifests of the tests, in their order. */
export async function everyKind(client: ApiClient): Promise<Sample[]> {
  const directory = join(packageRoot, 'test/manifests');
  const files = readdirSync(directory).filter((name) => name.endsWith('.yaml'));
  const objects = files
    .sort()
    .flatMap((name) => loadAll(readFileSync(join(directory, name), 'utf8')) as KubeObject[])
    .filter((one) => one !== null);
  const samples: Sample[] = [];
  const resources = new Map<string, readonly Fields[]>();
  for (const object of objects) {
    const { apiVersion, kind, metadata } = object;
    const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    let found = resources.get(root);
    if (!found) {
      found = asItems((await client.must(client.get(root)))['resources']);
      resources.set(root, found);
    }
    const resource = found.find((one) => one['kind'] === kind && !asText(one['name']).includes('/'));
    if (!resource) throw new Error(`${client.name} serves no ${kind} of ${apiVersion}`);
    const scope = resource['namespaced'] === true ? `/namespaces/${metadata.namespace}` : '';
    const name = `${kind} ${apiVersion}`;
    samples.push({ name, object, collection: `${root}${scope}/${asText(resource['name'])}` });
  }
  return samples;
}

export const pathOf = ({ collection, object }: Sample) => `${collection}/${object.metadata.name}`;

/** Paths at which two JSON values differ, with both values: `.spec.replicas: 1 | 2`. */
export function differences(left: unknown, right: unknown, path = ''): string[] {
  if (Object.is(left, right)) return [];
  const bothLists = Array.isArray(left) && Array.isArray(right);
  if (!bothLists && (!isObject(left) || !isObject(right))) {
    return [`${path}: ${shown(left)} | ${shown(right)}`];
  }
  const [a, b] = [left as Fields, right as Fields];
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...names].flatMap((name) => differences(a[name], b[name], `${path}.${name}`));
}

const shown = (value: unknown) => (value === undefined ? 'undefined' : stringifyJson(value).slice(0, 80));
const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);

export const itemNamed = (list: Fields, name: string | undefined) =>
  asItems(list['items']).find((item) => asFields(item['metadata'])['name'] === name);
