import { ClientError } from '../kubeconfig-client/client-error.js';
import type { KubeconfigClient } from '../kubeconfig-client/kubeconfig-client.js';
import { asFields, asItems, asText, asTexts } from '../machinery/fields.js';

interface FoundResource {
  readonly group: string;
  readonly resource: string;
  readonly isNamespaced: boolean;
}

interface ServedGroup {
  readonly name: string;
  readonly path: string;
}

/** Finds resources in the discovery documents of a server. */
export class ResourceFinder {
  private constructor(
    private readonly client: KubeconfigClient,
    private readonly groups: readonly ServedGroup[],
  ) {}

  static async of(client: KubeconfigClient): Promise<ResourceFinder> {
    const groups = asItems(asFields(await client.get('/apis'))['groups']).map((group) => ({
      name: asText(group['name']),
      path: `/apis/${asText(asFields(group['preferredVersion'])['groupVersion'])}`,
    }));
    return new ResourceFinder(client, [{ name: '', path: '/api/v1' }, ...groups]);
  }

  /** Path of the group of reviews, whose domain depends on the naming profile. */
  get reviewsPath(): string {
    const found =
      this.groups.find(({ name }) => name === 'authorization.k8s.io') ??
      this.groups.find(({ name }) => name.startsWith('authorization.'));
    if (!found) throw new ClientError('Connection', 'the server does not serve the API group authorization.k8s.io');
    return found.path;
  }

  /** `type` is `deployments`, `deploy`, `Deployment`, `deployments.apps`. Undefined if the server does not have it. */
  async find(type: string): Promise<FoundResource | undefined> {
    const dot = type.indexOf('.');
    const name = (dot < 0 ? type : type.slice(0, dot)).toLowerCase();
    const groups = dot < 0 ? this.groups : this.groups.filter((group) => group.name === type.slice(dot + 1));
    for (const { name: group, path } of groups) {
      const found = (await this.resourcesOf(path)).find(
        ({ name: plural, singularName, kind, shortNames }) =>
          !asText(plural).includes('/') &&
          [plural, singularName, asText(kind).toLowerCase(), ...asTexts(shortNames)].includes(name),
      );
      if (found) return { group, resource: asText(found['name']), isNamespaced: found['namespaced'] === true };
    }
    return undefined;
  }

  /** A group whose server is away has no resources. */
  private async resourcesOf(path: string) {
    try {
      return asItems(asFields(await this.client.get(path))['resources']);
    } catch (error) {
      if (error instanceof ClientError && error.code === 'Status') return [];
      throw error;
    }
  }
}
