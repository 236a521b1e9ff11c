import type { KubeObject } from '../../machinery/kube-object.js';
import { rbacVersion } from '../../modules/rbac/rbac.resources.js';
import type { ServedResource } from '../../registry/resource-registry.js';
import type { Reconciler, ReconcilerParts, RunningReconciler } from '../reconciler.js';
import { gathersRules, selectorsOf, withGatheredRules } from './decide.js';

const name = 'clusterrole-aggregation-controller';

/** Keeps the rules of ClusterRoles that are made of others as those are. */
export const roleAggregation: Reconciler = {
  name,
  fieldManager: () => name,
  start(parts) {
    const { group, version } = rbacVersion(parts.config.naming);
    const roles = parts.registry.find(group, version, 'clusterroles');
    // --runtime-config may leave them out.
    return roles?.type === 'stored' ? new RoleAggregation(parts, roles) : { stop: async () => undefined };
  },
};

class RoleAggregation implements RunningReconciler {
  private readonly queue;
  private readonly end: () => void;
  /** Roles that are made of others: few, and each is looked at again when any role changes. */
  private gathering = new Set<string>();

  constructor(
    private readonly parts: ReconcilerParts,
    private readonly roles: ServedResource,
  ) {
    this.queue = parts.queue('clusterrole_aggregation', (role, signal) => this.reconcile(role, signal));
    this.end = roles.store.cache.observe({
      changed: ({ current, previous }) => {
        const { attributes } = (current ?? previous)!;
        if (current && !current.corruption && gathersRules(current.parse())) this.gathering.add(attributes.name);
        else this.gathering.delete(attributes.name);
        this.addAll();
      },
      reset: () => {
        this.gathering = new Set(
          [...this.entries()].flatMap((it) => (gathersRules(it.parse()) ? it.attributes.name : [])),
        );
        this.addAll();
      },
    });
  }

  async stop(): Promise<void> {
    this.end();
    await this.queue.stop();
  }

  private addAll(): void {
    for (const role of this.gathering) this.queue.add(role);
  }

  private async reconcile(role: string, signal: AbortSignal): Promise<void> {
    const { store } = this.roles;
    const known = store.cache.get(store.keyOf('', role));
    if (!known || known.corruption) return;
    const found = known.parse();
    if (withGatheredRules(found, this.lenders(found)) === found) return;
    await this.parts.client.change(
      { served: this.roles, namespace: '', name: role },
      (current) => withGatheredRules(current, this.lenders(current)),
      { signal },
    );
  }

  /** Those that a role chooses: the others need not be read. */
  private lenders(role: KubeObject): KubeObject[] {
    const selectors = selectorsOf(role);
    return [...this.entries()]
      .filter(({ attributes }) => selectors.some((selector) => selector.matches(attributes.labels)))
      .map((entry) => entry.parse());
  }

  private *entries() {
    const { store } = this.roles;
    for (const entry of store.cache.snapshot().range(store.scopeOf(''))) if (!entry.corruption) yield entry;
  }
}
