import type { GroupResource } from '../../machinery/gvk.js';
import type { Served, ServedResource } from '../../registry/resource-registry.js';
import type { AdmissionOperation } from '../admission-operation.js';
import type { RequestMatch } from './request-match.js';

/** Policies or webhooks, and those of them whose rules may select a resource, found once for each resource. */
export class RuleCandidates<Item> {
  private readonly byResource = new WeakMap<Served, Map<AdmissionOperation, readonly Item[]>>();

  constructor(
    private readonly items: readonly Item[],
    private readonly matchOf: (item: Item) => RequestMatch,
    private readonly equivalentsOf: (served: ServedResource) => readonly ServedResource[],
  ) {}

  /** Returns those of whose rules one may select the resource or one of its subresources, in any version. */
  of(served: Served, operation: AdmissionOperation): readonly Item[] {
    let byOperation = this.byResource.get(served);
    if (!byOperation) this.byResource.set(served, (byOperation = new Map<AdmissionOperation, readonly Item[]>()));
    let found = byOperation.get(operation);
    if (!found) {
      const resources = this.resourcesOf(served);
      found = this.items.filter((item) => this.matchOf(item).maySelect(operation, resources));
      byOperation.set(operation, found);
    }
    return found;
  }

  private resourcesOf(served: Served): readonly GroupResource[] {
    const others = served.type === 'stored' ? this.equivalentsOf(served) : [];
    return [served, ...others].map(({ definition: { group, plural } }) => ({ group, resource: plural }));
  }
}
