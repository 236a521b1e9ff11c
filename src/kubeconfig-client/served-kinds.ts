import { asFields, asItems, asText, asTexts, type Fields } from '../machinery/fields.js';
import { ClientError } from './client-error.js';
import type { KubeconfigClient } from './kubeconfig-client.js';

/** A kind as the discovery document of its version has it. */
export interface ServedKind {
  /** `/apis/apps/v1` */
  readonly path: string;
  readonly plural: string;
  readonly kind: string;
  /** The singular and the short names: `deployment`, `deploy`. */
  readonly otherNames: readonly string[];
  readonly isNamespaced: boolean;
  readonly verbs: readonly string[];
  /** True if the status is written through the subresource `status` alone. */
  readonly hasStatus: boolean;
}

/** Finds the paths of objects by discovery. Asks once for each version. */
export class ServedKinds {
  private readonly versions = new Map<string, Promise<readonly ServedKind[]>>();

  constructor(private readonly client: KubeconfigClient) {}

  /** The kind of an object. Rejects with ClientError if the server does not serve it. */
  async of(object: Fields): Promise<ServedKind> {
    const [apiVersion, kind] = [asText(object['apiVersion']), asText(object['kind'])];
    const path = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    const found = (await this.inVersion(path)).find((one) => one.kind === kind);
    if (!found) throw new ClientError('Status', `the server has no kind ${kind} in ${apiVersion}`);
    return found;
  }

  /** The kinds below a path such as `/apis/apps/v1`. */
  inVersion(path: string): Promise<readonly ServedKind[]> {
    let kinds = this.versions.get(path);
    if (!kinds) {
      kinds = this.read(path);
      this.versions.set(path, kinds);
      // The next caller asks again.
      kinds.catch(() => this.versions.delete(path));
    }
    return kinds;
  }

  /** The paths of all groups in their preferred versions: `/api/v1`, `/apis/apps/v1`. */
  async preferredVersions(): Promise<string[]> {
    const groups = asItems(asFields(await this.client.get('/apis'))['groups']);
    const versions = groups.map((group) => asText(asFields(group['preferredVersion'])['groupVersion']));
    return ['/api/v1', ...versions.map((version) => `/apis/${version}`)];
  }

  /**
   * Finds `deployments`, `deploy`, `Deployment`, `deployments.apps`, `deployments.v1.apps`. Rejects with ClientError if the
   * server does not serve it.
   */
  async named(type: string): Promise<ServedKind> {
    const dot = type.indexOf('.');
    const name = (dot < 0 ? type : type.slice(0, dot)).toLowerCase();
    const scope = dot < 0 ? '' : type.slice(dot + 1);
    const preferred = await this.preferredVersions();
    const [version = '', ...group] = scope.split('.');
    const inScope = preferred.filter((path) => dot < 0 || groupOf(path) === scope);
    if (inScope.length === 0 && group.length > 0) inScope.push(`/apis/${group.join('.')}/${version}`);
    for (const path of inScope) {
      const found = (await this.inVersion(path).catch(noneIfUnavailable)).find(
        ({ plural, kind, otherNames }) => [plural, kind.toLowerCase(), ...otherNames].includes(name) && name !== '',
      );
      if (found) return found;
    }
    throw new ClientError('Status', `the server has no resource ${type}`);
  }

  /** Forgets what was read, after definitions of kinds have changed. */
  forget(): void {
    this.versions.clear();
  }

  private async read(path: string): Promise<readonly ServedKind[]> {
    const resources = asItems(asFields(await this.client.get(path))['resources']);
    const names = new Set(resources.map((resource) => asText(resource['name'])));
    return resources
      .filter((resource) => !asText(resource['name']).includes('/'))
      .map((resource) => ({
        path,
        plural: asText(resource['name']),
        kind: asText(resource['kind']),
        otherNames: [asText(resource['singularName']), ...asTexts(resource['shortNames'])],
        isNamespaced: resource['namespaced'] === true,
        verbs: asTexts(resource['verbs']),
        hasStatus: names.has(`${asText(resource['name'])}/status`),
      }));
  }
}

/** The group of a path such as `/apis/apps/v1`; empty for the core group. */
export const groupOf = (path: string): string => (path.startsWith('/apis/') ? path.split('/')[2]! : '');

/** The group of a server that is away has no kinds. */
export function noneIfUnavailable(error: unknown): [] {
  if (error instanceof ClientError && error.code === 'Status') return [];
  throw error;
}

/** The path of a collection. `namespace` is ignored for cluster-scoped kinds. */
export function collectionPath({ path, plural, isNamespaced }: ServedKind, namespace: string): string {
  return isNamespaced && namespace !== ''
    ? `${path}/namespaces/${encodeURIComponent(namespace)}/${plural}`
    : `${path}/${plural}`;
}
