import { deepEqual } from '../../machinery/deep-equal.js';
import { asFields, asItems } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { flowcontrolVersion } from '../../modules/flowcontrol/flowcontrol.resources.js';
import type { ServedResource } from '../../registry/resource-registry.js';
import { objectTime } from '../../registry/write/system-fields.js';
import { followNames } from '../follow.js';
import type { Reconciler, ReconcilerParts, RunningReconciler } from '../reconciler.js';
import { conditionsAfter, levelOf } from './dangling.js';

/** Says of each flow schema whether the priority level that it names is there. */
export const flowSchemaReconciler: Reconciler = {
  name: 'flow-schema-controller',
  start(parts) {
    const { group, version } = flowcontrolVersion(parts.config.naming);
    const schemas = parts.registry.find(group, version, 'flowschemas');
    const levels = parts.registry.find(group, version, 'prioritylevelconfigurations');
    // --runtime-config may leave them out.
    if (schemas?.type !== 'stored' || levels?.type !== 'stored') return { stop: async () => undefined };
    return new FlowSchemas(parts, schemas, levels);
  },
};

class FlowSchemas implements RunningReconciler {
  private readonly queue;
  private readonly ends: (() => void)[];

  constructor(
    private readonly parts: ReconcilerParts,
    private readonly schemas: ServedResource,
    private readonly levels: ServedResource,
  ) {
    this.queue = parts.queue('flow-schemas', (name, signal) => this.reconcile(name, signal));
    const { store } = schemas;
    this.ends = [
      followNames(schemas, (_, name) => this.queue.add(name)),
      // There are few schemas, and levels come and go rarely.
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
    const { client, clock } = this.parts;
    const now = objectTime(clock.now());
    const { store } = this.schemas;
    const known = store.cache.get(store.keyOf('', name));
    // Most are right. A write that changes nothing may still change how the object is stored.
    if (known && !known.corruption && this.isRight(known.parse(), now)) return;
    await client.change(
      { served: this.schemas, namespace: '', name },
      (schema) => {
        const conditions = conditionsAfter(schema, this.exists(levelOf(schema)), now);
        return { ...schema, status: { ...asFields(schema['status']), conditions } };
      },
      { subresource: 'status', signal },
    );
  }

  private isRight(schema: KubeObject, now: string): boolean {
    const conditions = conditionsAfter(schema, this.exists(levelOf(schema)), now);
    return deepEqual(conditions, asItems(asFields(schema['status'])['conditions']));
  }

  private exists(level: string): boolean {
    const { store } = this.levels;
    return store.cache.get(store.keyOf('', level)) !== undefined;
  }
}
