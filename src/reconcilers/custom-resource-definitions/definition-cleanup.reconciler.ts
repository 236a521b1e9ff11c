import type { CustomResourceDefinition } from '../../catalog/types/apiextensions.v1.js';
import { apiextensionsVersion } from '../../modules/apiextensions/apiextensions.resources.js';
import { conditionsOf, isEstablished, withFinding, type Finding } from '../../custom-kinds/definition-conditions.js';
import { terminating } from '../../custom-kinds/definition-deletion.js';
import { definitionCleanupFinalizer } from '../../machinery/finalizers.js';
import { isCustom, type ServedResource } from '../../registry/resource-registry.js';
import { objectTime } from '../../registry/write/system-fields.js';
import { yieldEventLoop } from '../../std/yield-event-loop.js';
import { YieldTimer } from '../../std/yield-timer.js';
import { findStored } from '../find-stored.js';
import { followAll, followNames } from '../follow.js';
import { defineReconciler, idle, type ReconcilerDependencies, type RunningReconciler } from '../reconciler.js';
import { definitionOf, deleteInstances } from './instances.js';

/** Wait for writes that were admitted before the definition was deleted; longer if other servers share the store. */
const drainSharedMs = 1000;
const drainAloneMs = 50;
/** Deletions of objects trigger a check at once; this is for those that were missed. */
const recheckMs = 15_000;
/** Collects the deletions of many objects into one check. */
const gatherMs = 50;

/** Deletes the objects of a deleted CustomResourceDefinition, then removes its finalizer. */
export const definitionCleanup = defineReconciler({
  name: 'crd-finalizer',
  runs: 'always',
  runsOn: 'every server',
  fieldManager: (naming) => naming.systemName('apiserver'),
  start(dependencies) {
    const { group, version } = apiextensionsVersion(dependencies.config.naming);
    const definitions = findStored(dependencies.registry, group, version, 'customresourcedefinitions');
    return definitions ? new DefinitionCleanup(dependencies, definitions) : idle;
  },
});

class DefinitionCleanup implements RunningReconciler {
  private readonly deleting = new Set<string>();
  private readonly finalizer: string;
  private readonly queue;
  private readonly ends: (() => void)[];

  constructor(
    private readonly dependencies: ReconcilerDependencies,
    private readonly definitions: ServedResource,
  ) {
    const { config, registry, sharesStore } = dependencies;
    this.finalizer = definitionCleanupFinalizer(config.naming);
    this.queue = dependencies.queue('crd_finalizer', (name, signal) => this.reconcile(name, signal), { workersMax: 4 });
    const { store } = definitions;
    const checkSoon = (name: string) => {
      if (this.deleting.has(name)) this.queue.addAfter(name, gatherMs);
    };
    this.ends = [
      followNames(definitions, (_, name) => {
        const lifetime = store.cache.get(store.keyOf('', name))?.attributes.lifetime;
        if (!lifetime?.isDeleting || !lifetime.finalizers.includes(this.finalizer)) this.deleting.delete(name);
        else if (!this.deleting.has(name)) {
          this.deleting.add(name);
          this.queue.addAfter(name, sharesStore ? drainSharedMs : drainAloneMs);
        }
      }),
      followAll(registry, {
        observerOf: (served) => {
          if (!isCustom(served)) return undefined;
          const name = definitionOf(served);
          return { changed: () => checkSoon(name), reset: () => checkSoon(name) };
        },
        gone: (served) => checkSoon(definitionOf(served)),
      }),
    ];
  }

  async stop(): Promise<void> {
    for (const end of this.ends) end();
    await this.queue.stop();
  }

  private async reconcile(name: string, signal: AbortSignal): Promise<void | { againInMs: number }> {
    // Lets the event loop run first: a definition may be large, and the code that serves it has just parsed it.
    await yieldEventLoop();
    const timer = new YieldTimer(this.dependencies.clock);
    const ref = { served: this.definitions, namespace: '', name };
    const definition: CustomResourceDefinition | undefined = await this.dependencies.client.live(ref, signal);
    if (!definition || !this.awaitsCleanup(definition)) return;
    if (timer.isDue()) await timer.yield();
    if (!isEstablished(definition)) {
      await this.removeFinalizer(
        definition,
        terminating('False', 'NeverEstablished', 'resource was never established'),
        signal,
      );
      return;
    }
    // A failure stays in the condition until the deletion succeeds.
    if (!hasFailed(definition)) await this.setCondition(definition, inProgress, signal);
    if (timer.isDue()) await timer.yield();
    const dependencies = { ...this.dependencies, definitions: this.definitions.store };
    const outcome = await deleteInstances(dependencies, definition, signal);
    if (timer.isDue()) await timer.yield();
    if (outcome.type === 'failed') {
      await this.setCondition(definition, terminating('True', failureReason, outcome.message), signal);
      throw new Error(outcome.message);
    }
    if (outcome.type === 'left') {
      await this.setCondition(definition, inProgress, signal);
      return { againInMs: recheckMs };
    }
    await this.removeFinalizer(definition, finalCondition(outcome.type), signal);
  }

  private awaitsCleanup({ metadata }: CustomResourceDefinition): boolean {
    return metadata.deletionTimestamp !== undefined && (metadata.finalizers?.includes(this.finalizer) ?? false);
  }

  private setCondition(definition: CustomResourceDefinition, finding: Finding, signal: AbortSignal) {
    return this.change(definition, finding, ({ metadata }) => metadata, signal);
  }

  private removeFinalizer(definition: CustomResourceDefinition, finding: Finding, signal: AbortSignal) {
    const withoutFinalizer = ({ metadata }: CustomResourceDefinition) => ({
      ...metadata,
      finalizers: (metadata.finalizers ?? []).filter((finalizer) => finalizer !== this.finalizer),
    });
    return this.change(definition, finding, withoutFinalizer, signal);
  }

  /** Several servers may do the same: the later ones find it done. */
  private change(
    { metadata: { name = '', uid } }: CustomResourceDefinition,
    finding: Finding,
    metadataAfter: (definition: CustomResourceDefinition) => CustomResourceDefinition['metadata'],
    signal: AbortSignal,
  ) {
    const now = objectTime(this.dependencies.clock.now());
    return this.dependencies.client.change(
      { served: this.definitions, namespace: '', name },
      (current: CustomResourceDefinition) => {
        if (!this.awaitsCleanup(current)) return current;
        const conditions = withFinding(conditionsOf(current), finding, now);
        return { ...current, metadata: metadataAfter(current), status: { ...current.status, conditions } };
      },
      { subresource: 'status', preconditions: { uid }, signal },
    );
  }
}

const inProgress = terminating('True', 'InstanceDeletionInProgress', 'CustomResource deletion is in progress');
const failureReason = 'InstanceDeletionFailed';

const hasFailed = (definition: CustomResourceDefinition): boolean =>
  (definition.status?.conditions ?? []).some(
    ({ type, reason }) => type === inProgress.type && reason === failureReason,
  );

function finalCondition(type: 'gone' | 'overlaps'): Finding {
  if (type === 'gone') return terminating('False', 'InstanceDeletionCompleted', 'removed all instances');
  return terminating('False', 'OverlappingBuiltInResource', 'instances overlap with built-in resources in storage');
}
