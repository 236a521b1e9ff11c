import type { ClusterRole, PolicyRule } from '../../catalog/types/rbac.v1.js';
import { isReason } from '../../client/loopback-client.js';
import { valueKey } from '../../machinery/value-key.js';
import { rbacVersion } from '../../modules/rbac/rbac.resources.js';
import type { ServedResource } from '../../registry/resource-registry.js';
import { defineReconciler, idle, type ReconcilerDependencies, type RunningReconciler } from '../reconciler.js';
import { YieldTimer } from '../../std/yield-timer.js';
import { aggregateRules, aggregatesRules, withRules } from './decide.js';

const name = 'clusterrole-aggregation-controller';

/** Keeps the rules of ClusterRoles with an aggregationRule equal to those of the roles that it selects. */
export const roleAggregation = defineReconciler({
  name,
  runs: 'by default',
  runsOn: 'leader',
  role: name,
  yieldsToUpstream: true,
  fieldManager: () => name,
  start(dependencies) {
    const { group, version } = rbacVersion(dependencies.config.naming);
    const roles = dependencies.registry.find(group, version, 'clusterroles');
    // --runtime-config may disable the resource.
    return roles?.type === 'stored' ? new RoleAggregation(dependencies, roles) : idle;
  },
});

/** Only roles with this text in their JSON may aggregate: parsing every changed role would cost more. */
const marker = '"aggregationRule"';

class RoleAggregation implements RunningReconciler {
  private readonly queue;
  private readonly end: () => void;
  /** Roles with an aggregationRule: few, and each is checked when any role changes. */
  private aggregating = new Set<string>();
  /** Roles whose aggregated rules are too large: logged once, and tried again when any role changes. */
  private readonly tooLarge = new Set<string>();

  constructor(
    private readonly dependencies: ReconcilerDependencies,
    private readonly roles: ServedResource,
  ) {
    this.queue = dependencies.queue('clusterrole_aggregation', (role, signal) => this.reconcile(role, signal));
    this.end = roles.store.cache.observe({
      changed: ({ current, previous }) => {
        const { attributes } = (current ?? previous)!;
        if (current && !current.corruption && current.bytes.includes(marker)) this.aggregating.add(attributes.name);
        else this.aggregating.delete(attributes.name);
        if (!current) this.tooLarge.delete(attributes.name);
        this.addAll();
      },
      reset: () => {
        this.aggregating = new Set(
          [...this.entries()].flatMap((it) => (it.bytes.includes(marker) ? it.attributes.name : [])),
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
    for (const role of this.aggregating) this.queue.add(role);
  }

  private async reconcile(role: string, signal: AbortSignal): Promise<void> {
    const { store } = this.roles;
    const known = store.cache.get(store.keyOf('', role));
    if (!known || known.corruption) return;
    const found = known.parse();
    if (!aggregatesRules(found)) return;
    const rules = await this.aggregate(found);
    if (!rules) return this.noteTooLarge(role, 'it would have more values than an object may have');
    if (withRules(found, rules) !== found && !(await this.write(role, found, rules, signal))) return;
    this.tooLarge.delete(role);
  }

  /** Writes the rules; aggregates again if the aggregationRule has changed. Returns false if the rules are too large. */
  private async write(role: string, found: ClusterRole, rules: PolicyRule[], signal: AbortSignal): Promise<boolean> {
    const selectors = valueKey(found.aggregationRule);
    const changed = async (current: ClusterRole) => {
      if (!aggregatesRules(current)) return current;
      const isSame = valueKey(current.aggregationRule) === selectors;
      const wanted = isSame ? rules : await this.aggregate(current);
      return wanted ? withRules(current, wanted) : current;
    };
    try {
      await this.dependencies.client.change({ served: this.roles, namespace: '', name: role }, changed, { signal });
      return true;
    } catch (error) {
      if (!isReason(error, 'RequestEntityTooLarge')) throw error;
      this.noteTooLarge(role, error.message);
      return false;
    }
  }

  private aggregate(role: ClusterRole): Promise<PolicyRule[] | undefined> {
    const { clock, config } = this.dependencies;
    const timer = new YieldTimer(clock);
    return aggregateRules(role, [...this.entries()], { valuesMax: config.limits.requestValuesMax, timer });
  }

  private noteTooLarge(role: string, why: string): void {
    if (this.tooLarge.has(role)) return;
    this.tooLarge.add(role);
    this.dependencies.logger.warn(
      'the aggregated rules of a ClusterRole are too large and were not written; let its aggregationRule select fewer',
      { name: role, error: why },
    );
  }

  private *entries() {
    const { store } = this.roles;
    for (const entry of store.cache.snapshot().range(store.scopeOf(''))) if (!entry.corruption) yield entry;
  }
}
