import { asFields } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { apiextensionsVersion } from '../../modules/apiextensions/apiextensions.resources.js';
import { conditionsOf, isEstablished, withFinding, type Finding } from '../../custom-kinds/definition-conditions.js';
import { cleanupFinalizer, terminating } from '../../custom-kinds/definition-deletion.js';
import { isCustom, type ServedResource } from '../../registry/resource-registry.js';
import { objectTime } from '../../registry/write/system-fields.js';
import { yieldEventLoop } from '../../std/yield-event-loop.js';
import { YieldTimer } from '../../std/yield-timer.js';
import { followAll, followNames } from '../follow.js';
import type { Reconciler, ReconcilerParts, RunningReconciler } from '../reconciler.js';
import { definitionOf, deleteInstances } from './instances.js';

/** Objects that were admitted before their kind was deleted may still be on their way, from other servers for longer. */
const settleSharedMs = 1000;
const settleAloneMs = 50;
/** What goes wakes it up at once; this is for what goes unseen. */
const lookAgainMs = 15_000;
/** Many objects go at a time. */
const gatherMs = 50;

/** A definition that is deleted takes the objects of its kind along, and goes when they are gone. */
export const definitionCleanup: Reconciler = {
  name: 'crd-finalizer',
  fieldManager: (naming) => naming.systemName('apiserver'),
  start(parts) {
    const { group, version } = apiextensionsVersion(parts.config.naming);
    const definitions = parts.registry.find(group, version, 'customresourcedefinitions');
    // --runtime-config may leave them out.
    if (definitions?.type !== 'stored') return { stop: async () => undefined };
    return new DefinitionCleanup(parts, definitions);
  },
};

class DefinitionCleanup implements RunningReconciler {
  private readonly deleting = new Set<string>();
  private readonly finalizer: string;
  private readonly queue;
  private readonly ends: (() => void)[];

  constructor(
    private readonly parts: ReconcilerParts,
    private readonly definitions: ServedResource,
  ) {
    const { config, registry, sharesStore } = parts;
    this.finalizer = cleanupFinalizer(config.naming);
    this.queue = parts.queue('crd_finalizer', (name, signal) => this.reconcile(name, signal), { workersMax: 4 });
    const { store } = definitions;
    const lookAgain = (name: string) => {
      if (this.deleting.has(name)) this.queue.addAfter(name, gatherMs);
    };
    this.ends = [
      followNames(definitions, (_, name) => {
        const lifetime = store.cache.get(store.keyOf('', name))?.attributes.lifetime;
        if (!lifetime?.isDeleting || !lifetime.finalizers.includes(this.finalizer)) this.deleting.delete(name);
        else if (!this.deleting.has(name)) {
          this.deleting.add(name);
          this.queue.addAfter(name, sharesStore ? settleSharedMs : settleAloneMs);
        }
      }),
      followAll(registry, {
        observerOf: (served) => {
          if (!isCustom(served)) return undefined;
          const name = definitionOf(served);
          return { changed: () => lookAgain(name), reset: () => lookAgain(name) };
        },
        gone: (served) => lookAgain(definitionOf(served)),
      }),
    ];
  }

  async stop(): Promise<void> {
    for (const end of this.ends) end();
    await this.queue.stop();
  }

  private async reconcile(name: string, signal: AbortSignal): Promise<void | { againInMs: number }> {
    // A definition may be large, and those who serve it have just read it in this turn.
    await yieldEventLoop();
    const timer = new YieldTimer(this.parts.clock);
    const definition = await this.parts.client.live({ served: this.definitions, namespace: '', name }, signal);
    if (!definition || !this.isOurs(definition)) return;
    if (timer.isDue()) await timer.yield();
    if (!isEstablished(definition)) {
      await this.letGo(definition, terminating('False', 'NeverEstablished', 'resource was never established'), signal);
      return;
    }
    // What went wrong before stands until it goes right.
    if (!hasFailed(definition)) await this.tell(definition, inProgress, signal);
    if (timer.isDue()) await timer.yield();
    const parts = { ...this.parts, definitions: this.definitions.store };
    const outcome = await deleteInstances(parts, definition, signal);
    if (timer.isDue()) await timer.yield();
    if (outcome.type === 'failed') {
      await this.tell(definition, terminating('True', failed, outcome.message), signal);
      throw new Error(outcome.message);
    }
    if (outcome.type === 'left') {
      await this.tell(definition, inProgress, signal);
      return { againInMs: lookAgainMs };
    }
    await this.letGo(definition, lastWord(outcome.type), signal);
  }

  private isOurs({ metadata }: KubeObject): boolean {
    return metadata.deletionTimestamp !== undefined && (metadata.finalizers?.includes(this.finalizer) ?? false);
  }

  private tell(definition: KubeObject, finding: Finding, signal: AbortSignal) {
    return this.change(definition, finding, ({ metadata }) => metadata, signal);
  }

  private letGo(definition: KubeObject, finding: Finding, signal: AbortSignal) {
    const free = ({ metadata }: KubeObject) => ({
      ...metadata,
      finalizers: (metadata.finalizers ?? []).filter((finalizer) => finalizer !== this.finalizer),
    });
    return this.change(definition, finding, free, signal);
  }

  /** Another server may do the same: whoever is later finds it done. */
  private change(
    { metadata: { name = '', uid } }: KubeObject,
    finding: Finding,
    metadataAfter: (definition: KubeObject) => KubeObject['metadata'],
    signal: AbortSignal,
  ) {
    const now = objectTime(this.parts.clock.now());
    return this.parts.client.change(
      { served: this.definitions, namespace: '', name },
      (current) => {
        if (!this.isOurs(current)) return current;
        const conditions = withFinding(conditionsOf(current), finding, now);
        return { ...current, metadata: metadataAfter(current), status: { ...asFields(current['status']), conditions } };
      },
      { subresource: 'status', preconditions: { uid }, signal },
    );
  }
}

const inProgress = terminating('True', 'InstanceDeletionInProgress', 'CustomResource deletion is in progress');
const failed = 'InstanceDeletionFailed';

const hasFailed = (definition: KubeObject): boolean =>
  conditionsOf(definition).some(({ type, reason }) => type === inProgress.type && reason === failed);

function lastWord(type: 'gone' | 'overlaps'): Finding {
  if (type === 'gone') return terminating('False', 'InstanceDeletionCompleted', 'removed all instances');
  return terminating('False', 'OverlappingBuiltInResource', 'instances overlap with built-in resources in storage');
}
