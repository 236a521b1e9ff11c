import { apiVersionOf } from '../../machinery/gvk.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { autoupdateAnnotation, flowcontrolBootObjects } from '../../modules/flowcontrol/boot-objects.js';
import { flowcontrolVersion } from '../../modules/flowcontrol/flowcontrol.resources.js';
import { mandatoryFlowSchemas, mandatoryPriorityLevels } from '../../modules/flowcontrol/mandatory-objects.js';
import type { ServedResource } from '../../registry/resource-registry.js';
import { every } from '../../std/clock.js';
import { findStored } from '../find-stored.js';
import { defineReconciler, idle, type ReconcilerDependencies, type RunningReconciler } from '../reconciler.js';
import { isObsolete, revised, type DefaultObject } from './defaults.js';

/** As in kube-apiserver: an object that is deleted or changed is restored within a minute. */
const intervalMs = 60_000;
const kinds = { flowschemas: 'FlowSchema', prioritylevelconfigurations: 'PriorityLevelConfiguration' } as const;

/** Restores the FlowSchemas and PriorityLevelConfigurations of a new cluster when they are deleted or changed. */
export const flowDefaultsReconciler = defineReconciler({
  name: 'flow-control-defaults',
  runs: 'always',
  runsOn: 'every server',
  fieldManager: () => 'api-priority-and-fairness-config-producer-v1',
  start(dependencies) {
    const { group, version } = flowcontrolVersion(dependencies.config.naming);
    const find = (resource: keyof typeof kinds) => findStored(dependencies.registry, group, version, resource);
    const [flowschemas, prioritylevelconfigurations] = [find('flowschemas'), find('prioritylevelconfigurations')];
    if (!flowschemas || !prioritylevelconfigurations) return idle;
    return new FlowDefaults(dependencies, { flowschemas, prioritylevelconfigurations });
  },
});

class FlowDefaults implements RunningReconciler {
  private readonly timer;
  private readonly stopping = new AbortController();
  private running: Promise<void> = Promise.resolve();
  private readonly annotation: string;
  private readonly defaults: readonly DefaultObject[];

  constructor(
    private readonly dependencies: ReconcilerDependencies,
    private readonly served: Readonly<Record<DefaultObject['resource'], ServedResource>>,
  ) {
    const { naming } = dependencies.config;
    this.annotation = autoupdateAnnotation(naming);
    this.defaults = defaultObjects(flowcontrolBootObjects(naming));
    this.timer = every(dependencies.clock, intervalMs, () => (this.running = this.restoreAll()));
  }

  async stop(): Promise<void> {
    this.timer.cancel();
    this.stopping.abort();
    await this.running;
  }

  private async restoreAll(): Promise<void> {
    for (const desired of this.defaults) {
      await this.attempt(desired.resource, desired.name, () => this.restore(desired));
    }
    for (const [resource, { store }] of Object.entries(this.served)) {
      const wanted = new Set(this.defaults.filter((it) => it.resource === resource).map(({ name }) => name));
      for (const entry of [...store.cache.snapshot().range(store.scopeOf(''))]) {
        if (entry.corruption || !isObsolete(entry.parse(), wanted, this.annotation)) continue;
        const { name, uid } = entry.attributes;
        const ref = { served: this.served[resource as DefaultObject['resource']], namespace: '', name };
        const options = { preconditions: { uid, resourceVersion: String(entry.revision) } };
        await this.attempt(resource, name, () => this.dependencies.client.delete(ref, options, this.stopping.signal));
      }
    }
  }

  private async restore(desired: DefaultObject): Promise<void> {
    const { client, config } = this.dependencies;
    const served = this.served[desired.resource];
    const { name } = desired;
    const { signal } = this.stopping;
    const { store } = served;
    const known = store.cache.get(store.keyOf('', name));
    if (!known) {
      const { group, version } = flowcontrolVersion(config.naming);
      const object: KubeObject = {
        kind: kinds[desired.resource],
        apiVersion: apiVersionOf(group, version),
        metadata: { name, annotations: { [this.annotation]: 'true' } },
        spec: structuredClone(desired.spec),
      };
      await client.create(served, object, signal);
      return;
    }
    if (known.corruption) return;
    const current = known.parse();
    if (revised(current, desired, this.annotation) === current) return;
    const change = (live: KubeObject) => revised(live, desired, this.annotation);
    await client.change({ served, namespace: '', name }, change, { signal });
  }

  /** Tries again at the next interval after a failure. */
  private async attempt(resource: string, name: string, work: () => Promise<unknown>): Promise<void> {
    if (this.stopping.signal.aborted) return;
    try {
      await work();
    } catch (error) {
      if (this.stopping.signal.aborted) return;
      const message = 'a default object of priority and fairness was not restored; retrying in a minute';
      this.dependencies.logger.warn(message, { resource, name, error });
    }
  }
}

function defaultObjects({ flowSchemas, priorityLevels }: ReturnType<typeof flowcontrolBootObjects>): DefaultObject[] {
  return [
    ...Object.entries(priorityLevels).map(([name, spec]): DefaultObject => {
      const isMandatory = Object.hasOwn(mandatoryPriorityLevels, name);
      return { resource: 'prioritylevelconfigurations', name, spec, isMandatory };
    }),
    ...Object.entries(flowSchemas).map(([name, spec]): DefaultObject => {
      return { resource: 'flowschemas', name, spec, isMandatory: Object.hasOwn(mandatoryFlowSchemas, name) };
    }),
  ];
}
