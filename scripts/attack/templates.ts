import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadAll } from 'js-yaml';
import { packageRoot } from '../../src/config/config-files.js';
import { namingProfile } from '../../src/config/naming-profile.js';
import { Catalog } from '../../src/catalog/catalog.js';
import type { KindFacts } from '../../src/catalog/kind-facts.js';
import type { StructType } from '../../src/machinery/type-model.js';

export type Json = null | boolean | number | string | Json[] | { [field: string]: Json };
export type JsonObject = { [field: string]: Json };

export const catalog = new Catalog(namingProfile('kubernetes'));
export const namespace = 'attack';

/** A kind with the path of its collection and a valid object. */
export interface AttackedKind {
  readonly title: string;
  readonly collection: string;
  readonly facts: KindFacts;
  readonly struct: StructType;
  readonly template: JsonObject;
  /** True for objects that affect other requests: they are only created as dry runs. */
  readonly isDryRun: boolean;
}

const governs =
  /admission|webhook|^apiservices|^resourcequotas|^limitranges|^flowschemas|^prioritylevel|^namespaces|^servicecidrs|^nodes$/;

/** Valid objects of every stable kind, from the manifests of the tests. */
const manifests = new Map(
  readdirSync(join(packageRoot, 'test/manifests'))
    .filter((name) => name.endsWith('.yaml'))
    .flatMap((name) => loadAll(readFileSync(join(packageRoot, 'test/manifests', name), 'utf8')) as JsonObject[])
    .map((object) => {
      const text = JSON.stringify(object).replaceAll('"shop"', `"${namespace}"`);
      return [`${groupOf(object['apiVersion'] as string)} ${object['kind'] as string}`, text] as const;
    }),
);

export const attackedKinds: readonly AttackedKind[] = [...catalog.kinds().values()].flatMap((facts) => {
  const { group, version, kind, resource } = facts;
  const struct = catalog.kind(group, version, kind);
  if (!resource || !struct) return [];
  const apiVersion = group === '' ? version : `${group}/${version}`;
  const scope = resource.namespaced ? `/namespaces/${namespace}` : '';
  const text = manifests.get(`${group} ${kind}`) ?? '{"metadata":{}}';
  return {
    title: `${resource.plural}.${version}${group && `.${group}`}`,
    collection: `${group === '' ? '/api' : '/apis'}/${apiVersion}${scope}/${resource.plural}`,
    facts,
    struct,
    template: { ...(JSON.parse(text) as JsonObject), apiVersion, kind },
    isDryRun: governs.test(resource.plural),
  };
});

/** A copy of the template with its own name and namespace. */
export function objectOf(kind: AttackedKind, name?: string): JsonObject {
  const object = structuredClone(kind.template);
  if (kind.facts.kind === 'Pod') {
    // The objects that it refers to do not exist, so admission would refuse it before other checks.
    const { serviceAccountName: _account, priorityClassName: _priority, ...spec } = object['spec'] as JsonObject;
    object['spec'] = { ...spec, automountServiceAccountToken: false };
  }
  const own = object['metadata'] as JsonObject;
  object['metadata'] = {
    ...own,
    name: name ?? own['name'] ?? 'attacked',
    ...(kind.facts.resource!.namespaced && { namespace }),
  };
  return object;
}

function groupOf(apiVersion: string): string {
  return apiVersion.split('/').at(-2) ?? '';
}
