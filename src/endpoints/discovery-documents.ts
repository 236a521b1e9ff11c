import { createHash } from 'node:crypto';
import type { RemoteResource } from '../aggregation/remote-discovery.js';
import { compareKubeVersions } from '../machinery/kube-version.js';
import { apiVersionOf, type GroupVersionKind } from '../machinery/gvk.js';
import type { ResourceVerb } from '../registry/definition/resource-definition.js';
import { isCustom, type Served, type ServedVersion } from '../registry/resource-registry.js';

/**
 * Discovery documents, computed from the registered resources: one for each path (APIVersions, APIGroupList, APIGroup,
 * APIResourceList), and the aggregated one (APIGroupDiscoveryList, KEP-3352).
 */
interface ServedGroup {
  readonly name: string;
  /** The preferred version first. */
  readonly versions: readonly ListedVersion[];
}

/** A version of an aggregated server, with the resources that it had when they were read last. */
export interface DiscoveredVersion {
  readonly group: string;
  readonly version: string;
  readonly groupPriority: number;
  readonly versionPriority: number;
  readonly remoteResources: readonly RemoteResource[];
  readonly isCurrent: boolean;
}

type ListedVersion = ServedVersion | DiscoveredVersion;

/** Groups the result of ResourceRegistry.servedVersions(), in which versions of one group need not be adjacent. */
export function groupsOf(versions: readonly ListedVersion[]): ServedGroup[] {
  const groups = new Map<string, ListedVersion[]>();
  for (const version of versions) {
    const known = groups.get(version.group);
    if (known) known.push(version);
    else groups.set(version.group, [version]);
  }
  return [...groups].map(([name, versions]) => ({ name, versions }));
}

/** Adds versions of aggregated servers: the order is that of ResourceRegistry.servedVersions(). */
export function merged(own: readonly ServedVersion[], remote: readonly DiscoveredVersion[]): readonly ListedVersion[] {
  if (remote.length === 0) return own;
  const listed: ListedVersion[] = [...own, ...remote];
  const priorities = new Map<string, number>();
  for (const { group, groupPriority } of listed) {
    priorities.set(group, Math.max(priorities.get(group) ?? 0, groupPriority));
  }
  return listed.sort(
    (a, b) =>
      priorities.get(b.group)! - priorities.get(a.group)! ||
      (a.group < b.group ? -1 : a.group > b.group ? 1 : 0) ||
      b.versionPriority - a.versionPriority ||
      compareKubeVersions(b.version, a.version),
  );
}

export function apiVersions(core: ServedGroup | undefined, serverAddress: string) {
  return {
    kind: 'APIVersions',
    versions: (core?.versions ?? []).map(({ version }) => version),
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
  };
}

export function apiGroupList(groups: readonly ServedGroup[]) {
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: groups.map(namesOf) };
}

export function apiGroup(group: ServedGroup) {
  return { kind: 'APIGroup', apiVersion: 'v1', ...namesOf(group) };
}

function namesOf({ name, versions }: ServedGroup) {
  const names = versions.map(({ version }) => ({ groupVersion: apiVersionOf(name, version), version }));
  return { name, versions: names, preferredVersion: names[0] };
}

export function apiResourceList(served: ServedVersion) {
  const { group, version } = served;
  return {
    kind: 'APIResourceList',
    // As kube-apiserver: the APIResourceList of the core group has no apiVersion.
    ...(group !== '' && { apiVersion: 'v1' }),
    groupVersion: apiVersionOf(group, version),
    resources: byPlural(served.resources).flatMap((resource) => {
      const { plural, singular, namespaced, kind } = resource.definition;
      return [
        {
          name: plural,
          singularName: singular,
          namespaced,
          kind,
          verbs: verbsOf(resource),
          ...shortNamesAndCategories(resource),
          ...hashOf(resource),
        },
        ...subresourcesOf(resource).map(({ name, verbs, kind, foreign }) => ({
          name: `${plural}/${name}`,
          singularName: '',
          namespaced,
          ...foreign,
          kind,
          verbs,
        })),
      ];
    }),
  };
}

export function apiGroupDiscoveryList(groups: readonly ServedGroup[], apiVersion: string) {
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion,
    metadata: {},
    items: groups.map(({ name, versions }) => ({
      metadata: name === '' ? {} : { name },
      versions: versions.map((version) =>
        'remoteResources' in version
          ? {
              version: version.version,
              ...(version.remoteResources.length > 0 && { resources: version.remoteResources }),
              freshness: version.isCurrent ? 'Current' : 'Stale',
            }
          : {
              version: version.version,
              resources: byPlural(version.resources).map(discoveredResource),
              freshness: 'Current',
            },
      ),
    })),
  };
}

function discoveredResource(resource: Served) {
  const { plural, singular, namespaced, kind, group, version } = resource.definition;
  // As kube-apiserver: built-in kinds leave group and version empty (those of the list apply), custom kinds set them.
  const own = isCustom(resource) ? { group, version } : { group: '', version: '' };
  const subresources = subresourcesOf(resource).map(({ name, verbs, kind, foreign }) => ({
    subresource: name,
    responseKind: { ...own, ...foreign, kind },
    verbs,
  }));
  return {
    resource: plural,
    responseKind: { ...own, kind },
    scope: namespaced ? 'Namespaced' : 'Cluster',
    singularResource: singular,
    verbs: verbsOf(resource),
    ...shortNamesAndCategories(resource),
    ...(subresources.length > 0 && { subresources }),
  };
}

/** Verbs of custom resources, in kube-apiserver's order. */
const customVerbs: readonly ResourceVerb[] = [
  ...(['delete', 'deletecollection', 'get', 'list', 'patch'] as const),
  ...(['create', 'update', 'watch'] as const),
];
/** Verbs of custom resources whose CRD is being deleted. Updates that remove finalizers work, but are not announced. */
const endingVerbs: readonly ResourceVerb[] = ['delete', 'deletecollection', 'get', 'list', 'watch'];
const customSubresources = ['status', 'scale'];

function verbsOf(resource: Served): readonly string[] {
  if (resource.type !== 'stored') return ['create'];
  const { verbs, strategy } = resource.definition;
  if (!isCustom(resource)) return [...verbs].sort();
  return strategy.refusesCreate === undefined ? customVerbs : endingVerbs;
}

function shortNamesAndCategories(resource: Served) {
  if (resource.type !== 'stored') return {};
  const { shortNames, categories } = resource.definition;
  return { ...(shortNames.length > 0 && { shortNames }), ...(categories.length > 0 && { categories }) };
}

interface DiscoveredSubresource {
  readonly name: string;
  readonly verbs: readonly string[];
  readonly kind: string;
  /** Group and version of its kind, if they differ from those of the resource. */
  readonly foreign: { readonly group?: string; readonly version?: string };
}

function subresourcesOf(resource: Served): DiscoveredSubresource[] {
  if (resource.type !== 'stored') return [];
  const { definition } = resource;
  return Object.entries(definition.subresources)
    .map(([name, subresource]) => {
      const own = subresource.type === 'view' ? (subresource.viewKind ?? definition) : subresource.kind;
      const isForeign = own.group !== definition.group || own.version !== definition.version;
      const foreign = isForeign ? { ...(own.group !== '' && { group: own.group }), version: own.version } : {};
      return { name, verbs: [...subresource.verbs].sort(), kind: own.kind, foreign };
    })
    .sort(isCustom(resource) ? byCustom : byName);
}

function byCustom(a: DiscoveredSubresource, b: DiscoveredSubresource): number {
  return customSubresources.indexOf(a.name) - customSubresources.indexOf(b.name);
}

function byName(a: DiscoveredSubresource, b: DiscoveredSubresource): number {
  return a.name < b.name ? -1 : 1;
}

function byPlural(resources: readonly Served[]): Served[] {
  return [...resources].sort((a, b) => (a.definition.plural < b.definition.plural ? -1 : 1));
}

/** Resources without the verb create are computed on read and not stored: they have no hash. */
function hashOf(resource: Served): { storageVersionHash?: string } {
  if (resource.type !== 'stored') return {};
  if (!resource.definition.verbs.includes('create')) return {};
  const { hub, storage, group, version, kind } = resource.definition;
  const stored = hub?.stored ?? { group, version: storage?.version ?? version };
  return { storageVersionHash: storageVersionHash({ ...stored, kind }) };
}

/** Returns the hash of the storage version, computed as kube-apiserver does, so that both servers return the same. */
export function storageVersionHash({ group, version, kind }: GroupVersionKind): string {
  return createHash('sha256').update(`${group}/${version}/${kind}`).digest().subarray(0, 8).toString('base64');
}
