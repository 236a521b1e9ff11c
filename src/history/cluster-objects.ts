import { ClientError } from '../kubeconfig-client/client-error.js';
import type { KubeconfigClient, KubeList } from '../kubeconfig-client/kubeconfig-client.js';
import { collectionPath, noneIfUnavailable, ServedKinds, type ServedKind } from '../kubeconfig-client/served-kinds.js';
import { kindOf } from './kind-names.js';
import { rankOf } from './write-order.js';
import { asFields, asText, type Fields } from '../machinery/fields.js';

/** The objects of a server at one resourceVersion. */
interface ClusterObjects {
  readonly resourceVersion: string;
  /** The kinds that are read. */
  readonly kinds: readonly ServedKind[];
  /** All kinds whose objects the server stores, also those of which the objects are not read. */
  readonly storedKinds: readonly ServedKind[];
  /** Resources that are not read, with the reason. */
  readonly leftOut: readonly string[];
  /** Reads all objects, kind by kind. */
  read(): AsyncGenerator<Fields>;
}

const pageSize = 500;
const retriesMax = 5;

/** Records of what happened and who leads, which tell nothing about a past state. */
const volatileKinds: readonly string[] = ['Event', 'Lease', 'LeaseCandidate'];

/** Finds the kinds whose objects a server stores, and its resourceVersion. With a namespace, only those of namespaces. */
export async function clusterObjects(
  client: KubeconfigClient,
  { namespace = '' }: { readonly namespace?: string | undefined } = {},
): Promise<ClusterObjects> {
  const served = new ServedKinds(client);
  const remote = await remoteVersions(client);
  const storedKinds: ServedKind[] = [];
  const leftOut: string[] = [];
  for (const path of await served.preferredVersions()) {
    if (remote.has(path)) leftOut.push(`${path} is served by another server`);
    const ofVersion = remote.has(path) ? [] : await served.inVersion(path).catch(noneIfUnavailable);
    // Virtual kinds, such as ComponentStatus, cannot be created.
    storedKinds.push(...ofVersion.filter(({ verbs }) => verbs.includes('list') && verbs.includes('create')));
  }
  const kinds = storedKinds.filter(
    ({ kind, isNamespaced }) => !volatileKinds.includes(kind) && (isNamespaced || !namespace),
  );
  kinds.sort((one, other) => rankOf(one.kind) - rankOf(other.kind));
  const first = await client.list('/api/v1/namespaces', { query: { limit: 1 }, retriesMax });
  const resourceVersion = asText(first.metadata.resourceVersion);
  const read = () => readObjects(client, { kinds, resourceVersion, namespace });
  return { resourceVersion, kinds, storedKinds, leftOut, read };
}

/** `v1.37.0` */
export async function serverVersion(client: KubeconfigClient): Promise<string> {
  return asText(asFields(await client.get('/version'))['gitVersion']);
}

/** The paths of versions that an APIService forwards to another server: `/apis/metrics.k8s.io/v1`. */
async function remoteVersions(client: KubeconfigClient): Promise<Set<string>> {
  const path = '/apis/apiregistration.k8s.io/v1/apiservices';
  const list = await client
    .list<Fields>(path, { retriesMax })
    .catch((error: unknown) => ({ items: noneIfUnavailable(error) }));
  const specs = list.items.map((item) => asFields(item['spec'])).filter((spec) => spec['service'] !== undefined);
  return new Set(specs.map(({ group, version }) => `/apis/${asText(group)}/${asText(version)}`));
}

interface Source {
  readonly kinds: readonly ServedKind[];
  readonly resourceVersion: string;
  readonly namespace: string;
}

async function* readObjects(
  client: KubeconfigClient,
  { kinds, resourceVersion, namespace }: Source,
): AsyncGenerator<Fields> {
  // Some groups have the same objects, as events.k8s.io has.
  const seen = new Set<unknown>();
  for (const kind of kinds) {
    const exact = { resourceVersion, resourceVersionMatch: 'Exact' };
    let position: Record<string, string> = exact;
    let limit = pageSize;
    do {
      let list: KubeList<Fields>;
      try {
        list = await client.list<Fields>(collectionPath(kind, namespace), {
          query: { ...position, limit },
          retriesMax,
        });
      } catch (error) {
        if (!isTooLarge(error) || limit === 1) throw error;
        limit = Math.ceil(limit / 8);
        continue;
      }
      for (const item of list.items) {
        const uid = asFields(item['metadata'])['uid'];
        if (seen.has(uid)) continue;
        seen.add(uid);
        yield { apiVersion: apiVersionOf(kind), kind: kind.kind, ...item };
      }
      position = list.metadata.continue ? { continue: list.metadata.continue } : {};
    } while (Object.keys(position).length > 0);
  }
}

const isTooLarge = (error: unknown) => error instanceof ClientError && error.code === 'TooLarge';

/** `apps/v1` */
export const apiVersionOf = ({ path }: ServedKind): string => path.replace(/^\/apis?\//, '');

/** `deployments.apps shop/web`: the same for all versions of a kind. */
export function keyOf(object: Fields): string {
  const { namespace, name } = asFields(object['metadata']);
  const scope = asText(namespace) === '' ? '' : `${asText(namespace)}/`;
  return `${kindOf(object)} ${scope}${asText(name)}`;
}
