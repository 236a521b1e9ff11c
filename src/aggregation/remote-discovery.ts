import { asFields, asItems, asText, type Fields } from '../machinery/fields.js';
import { validatePathSegment } from '../machinery/names.js';

/** A resource as the aggregated discovery document lists it. Only known fields are copied from the other server. */
export interface RemoteResource {
  readonly resource: string;
  readonly responseKind: RemoteKind;
  readonly scope: 'Namespaced' | 'Cluster';
  readonly singularResource: string;
  readonly verbs: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly subresources?: readonly RemoteSubresource[];
}

interface RemoteSubresource {
  readonly subresource: string;
  readonly responseKind: RemoteKind;
  readonly verbs: readonly string[];
}

interface RemoteKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/**
 * Returns the resources of a group and version in an APIGroupDiscoveryList; undefined if it is not in it. Throws for other
 * documents.
 */
export function resourcesInGroups(document: unknown, group: string, version: string): RemoteResource[] | undefined {
  const { kind, items } = asFields(document);
  if (kind !== 'APIGroupDiscoveryList') throw new Error('the document is not an APIGroupDiscoveryList');
  for (const item of asItems(items)) {
    if (asFields(item['metadata'])['name'] !== group) continue;
    const found = asItems(item['versions']).find((each) => each['version'] === version);
    if (found) return withoutRepetition(asItems(found['resources']).flatMap(remoteResource));
  }
  return undefined;
}

/** Returns the resources of an APIResourceList, which servers without aggregated discovery have. */
export function resourcesInList(document: unknown): RemoteResource[] {
  const { kind, resources } = asFields(document);
  if (kind !== 'APIResourceList') throw new Error('the document is not an APIResourceList');
  const byName = new Map<string, RemoteResource & { subresources: RemoteSubresource[] }>();
  const listed = asItems(resources);
  const scopeOf = (entry: Fields) => (entry['namespaced'] === true ? 'Namespaced' : 'Cluster');
  for (const entry of listed) {
    const name = asText(entry['name']);
    if (name.includes('/') || !isName(name) || byName.has(name)) continue;
    byName.set(name, {
      resource: name,
      responseKind: kindOf(entry),
      scope: scopeOf(entry),
      singularResource: asText(entry['singularName']),
      ...lists(entry),
      subresources: [],
    });
  }
  for (const entry of listed) {
    const [name = '', subresource = '', more] = asText(entry['name']).split('/');
    if (more !== undefined || !isName(name) || !isName(subresource)) continue;
    let parent = byName.get(name);
    if (!parent) {
      const responseKind = { group: '', version: '', kind: '' };
      const rest = { singularResource: '', verbs: [], subresources: [] };
      byName.set(name, (parent = { resource: name, responseKind, scope: scopeOf(entry), ...rest }));
    }
    parent.subresources.push({ subresource, responseKind: kindOf(entry), verbs: texts(entry['verbs']) });
  }
  return [...byName.values()].map(({ subresources, ...resource }) =>
    subresources.length > 0 ? { ...resource, subresources } : resource,
  );
}

function remoteResource(value: unknown): RemoteResource[] {
  const entry = asFields(value);
  const resource = asText(entry['resource']);
  if (!isName(resource)) return [];
  const subresources = asItems(entry['subresources'])
    .filter((each) => isName(asText(each['subresource'])))
    .map((each) => ({
      subresource: asText(each['subresource']),
      responseKind: kindOf(asFields(each['responseKind'])),
      verbs: texts(each['verbs']),
    }));
  return [
    {
      resource,
      responseKind: kindOf(asFields(entry['responseKind'])),
      scope: entry['scope'] === 'Namespaced' ? 'Namespaced' : 'Cluster',
      singularResource: asText(entry['singularResource']),
      ...lists(entry),
      ...(subresources.length > 0 && { subresources }),
    },
  ];
}

function lists(entry: Fields) {
  const [shortNames, categories] = [texts(entry['shortNames']), texts(entry['categories'])];
  return {
    verbs: texts(entry['verbs']),
    ...(shortNames.length > 0 && { shortNames }),
    ...(categories.length > 0 && { categories }),
  };
}

function kindOf(entry: Fields): RemoteKind {
  return { group: asText(entry['group']), version: asText(entry['version']), kind: asText(entry['kind']) };
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}

function withoutRepetition(resources: readonly RemoteResource[]): RemoteResource[] {
  return [...new Map(resources.map((resource) => [resource.resource, resource])).values()];
}

function isName(name: string): boolean {
  return name !== '' && validatePathSegment(name).length === 0;
}
