import { isReason } from '../../client/loopback-client.js';
import type { Fields } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { valueKey } from '../../machinery/value-key.js';
import { rbacVersion } from '../../modules/rbac/rbac.resources.js';
import type { ServedResource } from '../../registry/resource-registry.js';
import type { Reconciler, ReconcilerParts, RunningReconciler } from '../reconciler.js';
import { YieldTimer } from '../../std/yield-timer.js';
import { gatherRules, gathersRules, withRules } from './decide.js';

const name = 'clusterrole-aggregation-controller';

/** Keeps the rules of ClusterRoles that are made of others as those are. */
export const roleAggregation: Reconciler = {
  name,
  yieldsToUpstream: true,
  fieldManager: () => name,
  start(parts) {
    const { group, version } = rbacVersion(parts.config.naming);
    const roles = parts.registry.find(group, version, 'clusterroles');
    // --runtime-config may leave them out.
    return roles?.type === 'stored' ? new RoleAggregation(parts, roles) : { stop: async () => undefined };
  },
};

/** Objects with this text may gather rules: parsing each role that changes would cost more. */
const mark = '"aggregationRule"';

class RoleAggregation implements RunningReconciler {
  private readonly queue;
  private readonly end: () => void;
  /** Roles that are made of others: few, and each is looked at again when any role changes. */
  private gathering = new Set<string>();
  /** Roles whose rules are too many to be written: logged once, and tried again when any role changes. */
  private readonly tooLarge = new Set<string>();

  constructor(
    private readonly parts: ReconcilerParts,
    private readonly roles: ServedResource,
  ) {
    this.queue = parts.queue('clusterrole_aggregation', (role, signal) => this.reconcile(role, signal));
    this.end = roles.store.cache.observe({
      changed: ({ current, previous }) => {
        const { attributes } = (current ?? previous)!;
        if (current && !current.corruption && current.bytes.includes(mark)) this.gathering.add(attributes.name);
        else this.gathering.delete(attributes.name);
        if (!current) this.tooLarge.delete(attributes.name);
        this.addAll();
      },
      reset: () => {
        this.gathering = new Set(
          [...this.entries()].flatMap((it) => (it.bytes.includes(mark) ? it.attributes.name : [])),
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
    if (!gathersRules(found)) return;
    const rules = await this.gather(found);
    if (!rules) return this.leaveOut(role, 'it would have more values than an object may have');
    if (withRules(found, rules) !== found && !(await this.write(role, found, rules, signal))) return;
    this.tooLarge.delete(role);
  }

  /** Writes the rules; a role that selects others meanwhile is gathered again. False if the rules were too large. */
  private async write(role: string, found: KubeObject, rules: Fields[], signal: AbortSignal): Promise<boolean> {
    const selects = valueKey(found['aggregationRule']);
    const changed = async (current: KubeObject) => {
      if (!gathersRules(current)) return current;
      const isSame = valueKey(current['aggregationRule']) === selects;
      const wanted = isSame ? rules : await this.gather(current);
      return wanted ? withRules(current, wanted) : current;
    };
    try {
      await this.parts.client.change({ served: this.roles, namespace: '', name: role }, changed, { signal });
      return true;
    } catch (error) {
      if (!isReason(error, 'RequestEntityTooLarge')) throw error;
      this.leaveOut(role, error.message);
      return false;
    }
  }

  private gather(role: KubeObject): Promise<Fields[] | undefined> {
    const { clock, config } = this.parts;
    const timer = new YieldTimer(clock);
    return gatherRules(role, [...this.entries()], { valuesMax: config.limits.requestValuesMax, timer });
  }

  private leaveOut(role: string, why: string): void {
    if (this.tooLarge.has(role)) return;
    this.tooLarge.add(role);
    this.parts.logger.warn(
      'the aggregated rules of a ClusterRole are too large and were not written; let its aggregationRule select fewer',
      { name: role, error: why },
    );
  }

  private *entries() {
    const { store } = this.roles;
    for (const entry of store.cache.snapshot().range(store.scopeOf(''))) if (!entry.corruption) yield entry;
  }
}
