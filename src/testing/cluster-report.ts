import { ClientError } from '../kubeconfig-client/client-error.js';
import type { KubeconfigClient } from '../kubeconfig-client/kubeconfig-client.js';
import { collectionPath, ServedKinds } from '../kubeconfig-client/served-kinds.js';
import { asFields, asItems, asText } from '../machinery/fields.js';

/** All objects of a cluster: uid and resourceVersion by resource and name. */
export type ClusterState = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** Requests since the start of the server, by verb and by code. */
export interface RequestCounts {
  readonly byVerb: ReadonlyMap<string, number>;
  readonly refused: ReadonlyMap<string, number>;
}

const partial = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json';
const pageSize = 5_000;
const namesShownMax = 5;

/**
 * Lists the metadata of all objects that can be listed. Leases and Events are counted like others; an object that two groups
 * serve, as Events are, counts for the first one.
 */
export async function readClusterState(client: KubeconfigClient): Promise<ClusterState> {
  const kinds = new ServedKinds(client);
  const groups = asItems(asFields(await client.get('/apis'))['groups']);
  const versions = groups.map((group) => `/apis/${asText(asFields(group['preferredVersion'])['groupVersion'])}`);
  const state = new Map<string, Map<string, string>>();
  const seen = new Set<string>();
  for (const path of ['/api/v1', ...versions]) {
    const served = await kinds.inVersion(path).catch(emptyIfUnavailable);
    for (const kind of served.filter(({ verbs }) => verbs.includes('list'))) {
      const objects = await readObjects(client, collectionPath(kind, '')).catch(emptyIfUnavailable);
      const group = path.split('/')[2];
      const resource = path === '/api/v1' ? kind.plural : `${kind.plural}.${group}`;
      const unseen = objects.filter(([, { uid }]) => !seen.has(uid));
      for (const [, { uid }] of unseen) seen.add(uid);
      state.set(
        resource,
        new Map(unseen.map(([name, { uid, resourceVersion }]) => [name, `${uid}/${resourceVersion}`])),
      );
    }
  }
  return state;
}

/** The group of a server that is away, or a list that is refused, has no objects. */
function emptyIfUnavailable(error: unknown): [] {
  if (error instanceof ClientError && error.code === 'Status') return [];
  throw error;
}

interface ObjectState {
  readonly uid: string;
  readonly resourceVersion: string;
}

async function readObjects(client: KubeconfigClient, path: string): Promise<[string, ObjectState][]> {
  const objects: [string, ObjectState][] = [];
  let next: string | undefined;
  do {
    const query = { limit: pageSize, ...(next !== undefined && { continue: next }) };
    const list = await client.list(path, { headers: { accept: partial }, query });
    for (const { metadata: { namespace, name, uid = '', resourceVersion = '' } = {} } of list.items) {
      const fullName = namespace === undefined ? `${name}` : `${namespace}/${name}`;
      objects.push([fullName, { uid, resourceVersion }]);
    }
    next = list.metadata.continue || undefined;
  } while (next !== undefined);
  return objects;
}

/** Reads the counters apiserver_request_total of /metrics, which count this request itself only afterwards. */
export async function readRequestCounts(client: KubeconfigClient): Promise<RequestCounts> {
  const { status, body } = await client.request({ method: 'GET', path: '/metrics', headers: { accept: 'text/plain' } });
  if (status !== 200) throw new ClientError('Status', `/metrics answered ${status}`, { status });
  const byVerb = new Map<string, number>();
  const refused = new Map<string, number>();
  for (const [, labels = '', value = '0'] of body.toString().matchAll(/^apiserver_request_total\{(.*)\} (\S+)$/gm)) {
    const { verb = '', code = '' } = Object.fromEntries(
      [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = '', text = '']) => [name, text]),
    );
    add(byVerb, verb, Number(value));
    if (Number(code) >= 400) add(refused, code, Number(value));
  }
  return { byVerb, refused };
}

function add(counts: Map<string, number>, key: string, count: number): void {
  counts.set(key, (counts.get(key) ?? 0) + count);
}

/** Describes what happened between two states, a line for each resource that changed. */
export function describeChanges(before: ClusterState, after: ClusterState): string[] {
  const lines: string[] = [];
  for (const resource of new Set([...before.keys(), ...after.keys()])) {
    const [old, now] = [
      before.get(resource) ?? new Map<never, never>(),
      after.get(resource) ?? new Map<never, never>(),
    ];
    const uidOf = (state: ReadonlyMap<string, string>, name: string) => state.get(name)?.split('/')[0];
    const names = [...new Set([...old.keys(), ...now.keys()])].sort();
    const added = names.filter((name) => now.has(name) && uidOf(now, name) !== uidOf(old, name));
    const removed = names.filter((name) => old.has(name) && uidOf(now, name) !== uidOf(old, name));
    const changed = names.filter((name) => uidOf(now, name) === uidOf(old, name) && now.get(name) !== old.get(name));
    const parts = [
      ...(added.length > 0 ? [`${added.length} new (${shown(added)})`] : []),
      ...(changed.length > 0 ? [`${changed.length} changed (${shown(changed)})`] : []),
      ...(removed.length > 0 ? [`${removed.length} gone (${shown(removed)})`] : []),
    ];
    if (parts.length > 0) lines.push(`${resource}: ${parts.join(', ')}`);
  }
  return lines;
}

function shown(names: readonly string[]): string {
  const more = names.length - namesShownMax;
  return `${names.slice(0, namesShownMax).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** The request that read the first counts is a GET itself. */
const ownGets = 1;

/** Counts of requests between two readings: `412 requests: 300 GET, 112 POST; answered with an error: 3 × 404`. */
export function describeRequests(before: RequestCounts, after: RequestCounts): string {
  const verbs = between(withOwn(before.byVerb), after.byVerb);
  const total = verbs.reduce((sum, [, count]) => sum + count, 0);
  const counted = verbs.map(([verb, count]) => `${count} ${verb}`).join(', ');
  const answers = between(before.refused, after.refused).map(([code, count]) => `${count} × ${code}`);
  return [
    `${total} ${total === 1 ? 'request' : 'requests'}${counted && `: ${counted}`}`,
    ...(answers.length > 0 ? [`answered with an error: ${answers.join(', ')}`] : []),
  ].join('; ');
}

function withOwn(byVerb: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  return new Map([...byVerb, ['GET', (byVerb.get('GET') ?? 0) + ownGets]]);
}

/** The increases, the largest first. */
function between(before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>): [string, number][] {
  return [...after]
    .map(([name, count]): [string, number] => [name, count - (before.get(name) ?? 0)])
    .filter(([, count]) => count > 0)
    .sort(([, a], [, b]) => b - a);
}
