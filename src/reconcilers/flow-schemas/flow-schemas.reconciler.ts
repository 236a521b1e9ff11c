import type { FlowSchema } from '../../catalog/types/flowcontrol.v1.js';
import type { JsonObject } from '../../machinery/kube-object.js';
import { deepEqual } from '../../machinery/deep-equal.js';
import { flowcontrolVersion } from '../../modules/flowcontrol/flowcontrol.resources.js';
import type { ServedResource } from '../../registry/resource-registry.js';
import { objectTime } from '../../registry/write/system-fields.js';
import { findStored } from '../find-stored.js';
import { followNames } from '../follow.js';
import { defineReconciler, idle, type ReconcilerDependencies, type RunningReconciler } from '../reconciler.js';
import { conditionsAfter, levelOf } from './dangling.js';

/** Keeps the condition Dangling of FlowSchemas: whether their PriorityLevelConfiguration exists. */
export const flowSchemaReconciler = defineReconciler({
  name: 'flow-schema-controller',
  runs: 'always',
  runsOn: 'every server',
  fieldManager: () => 'api-priority-and-fairness-config-consumer-v1',
  start(dependencies) {
    const { group, version } = flowcontrolVersion(dependencies.config.naming);
    const schemas = findStored(dependencies.registry, group, version, 'flowschemas');
    const levels = findStored(dependencies.registry, group, version, 'prioritylevelconfigurations');
    return schemas && levels ? new FlowSchemas(dependencies, schemas, levels) : idle;
  },
});

class FlowSchemas implements RunningReconciler {
  private readonly queue;
  private readonly ends: (() => void)[];

  constructor(
    private readonly dependencies: ReconcilerDependencies,
    private readonly schemas: ServedResource,
    private readonly levels: ServedResource,
  ) {
    this.queue = dependencies.queue('flow-schemas', (name, signal) => this.reconcile(name, signal));
    const { store } = schemas;
    this.ends = [
      followNames(schemas, (_, name) => this.queue.add(name)),
      // All schemas: they are few, and levels change rarely.
      followNames(levels, () => {
        for (const { attributes } of store.cache.snapshot().range(store.scopeOf(''))) this.queue.add(attributes.name);
      }),
    ];
  }

  async stop(): Promise<void> {
    for (const end of this.ends) end();
    await this.queue.stop();
  }

  private async reconcile(name: string, signal: AbortSignal): Promise<void> {
    const { client, clock } = this.dependencies;
    const now = objectTime(clock.now());
    const { store } = this.schemas;
    const known = store.cache.get(store.keyOf('', name));
    // Most need no change. A write without changes could still rewrite the stored form of the object.
    if (known && !known.corruption && this.isUpToDate(known.parse(), now)) return;
    if (!known || known.corruption) return;
    const schema: FlowSchema = known.parse();
    const dangling = conditionsAfter(schema, this.exists(levelOf(schema)), now).find(({ type }) => type === 'Dangling');
    const { apiVersion, kind } = schema;
    const config = { apiVersion, kind, metadata: { name }, status: { conditions: [{ ...dangling }] } };
    const ref = { served: this.schemas, namespace: '', name };
    await client.apply(ref, config as unknown as JsonObject, { subresource: 'status', signal });
  }

  private isUpToDate(schema: FlowSchema, now: string): boolean {
    const conditions = conditionsAfter(schema, this.exists(levelOf(schema)), now);
    return deepEqual(conditions, schema.status?.conditions ?? []);
  }

  private exists(level: string): boolean {
    const { store } = this.levels;
    return store.cache.get(store.keyOf('', level)) !== undefined;
  }
}
