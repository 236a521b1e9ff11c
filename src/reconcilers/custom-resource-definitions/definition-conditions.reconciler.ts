import type { EncodedObject } from '../../cache/encoded-object.js';
import type { CustomResourceDefinition, CustomResourceDefinitionStatus } from '../../catalog/types/apiextensions.v1.js';
import { apiextensionsVersion } from '../../modules/apiextensions/apiextensions.resources.js';
import type { Finding } from '../../custom-kinds/definition-conditions.js';
import { structureFinding } from '../../custom-kinds/definition-structure.js';
import type { ServedResource } from '../../registry/resource-registry.js';
import { objectTime } from '../../registry/write/system-fields.js';
import { yieldEventLoop } from '../../std/yield-event-loop.js';
import { YieldTimer } from '../../std/yield-timer.js';
import { findStored } from '../find-stored.js';
import { defineReconciler, idle, type ReconcilerDependencies, type RunningReconciler } from '../reconciler.js';
import { ClaimBook, claimOf } from './claims.js';
import { statusAfter } from './decide.js';

/** Accepts the names of CustomResourceDefinitions and establishes them. Runs on every server, since users wait for it. */
export const definitionConditions = defineReconciler({
  name: 'crd-condition-controller',
  runs: 'always',
  runsOn: 'every server',
  fieldManager: (naming) => naming.systemName('apiserver'),
  start(dependencies) {
    const { group, version } = apiextensionsVersion(dependencies.config.naming);
    const definitions = findStored(dependencies.registry, group, version, 'customresourcedefinitions');
    return definitions ? new DefinitionConditions(dependencies, definitions) : idle;
  },
});

class DefinitionConditions implements RunningReconciler {
  private readonly book = new ClaimBook();
  /** Definitions whose last change the ClaimBook has not noted yet. */
  private readonly changed = new Set<string>();
  private readonly structures = new Map<string, { readonly revision: string; readonly finding: Finding | undefined }>();
  private readonly queue;
  private readonly end: () => void;

  constructor(
    private readonly dependencies: ReconcilerDependencies,
    private readonly definitions: ServedResource,
  ) {
    // One worker: each decision depends on the names that the one before it accepted.
    this.queue = dependencies.queue('crd_naming_condition_controller', (name, signal) => this.reconcile(name, signal));
    const { store } = definitions;
    const add = (name: string) => {
      this.changed.add(name);
      this.queue.add(name);
    };
    this.end = store.cache.observe({
      changed: ({ current, previous }) => add((current ?? previous)!.attributes.name),
      reset: () => {
        this.book.clear();
        this.structures.clear();
        for (const { attributes } of store.cache.snapshot().range(store.scopeOf(''))) add(attributes.name);
      },
    });
  }

  async stop(): Promise<void> {
    this.end();
    await this.queue.stop();
  }

  private async reconcile(name: string, signal: AbortSignal): Promise<void> {
    const { store } = this.definitions;
    // Lets the event loop run first: a definition may be large, and the code that serves it has just parsed it.
    await yieldEventLoop();
    const timer = new YieldTimer(this.dependencies.clock);
    const entry = store.cache.get(store.keyOf('', name));
    const seen: CustomResourceDefinition | undefined = entry && !entry.corruption ? entry.parse() : undefined;
    if (timer.isDue()) await timer.yield();
    await this.noteChanges((other) => (other === entry && seen ? seen : other.parse()), timer);
    if (!entry) this.structures.delete(name);
    if (!entry || !seen) return;
    const { revision } = entry;
    // Read before the next yield, since the ClaimBook may be cleared then.
    const others = this.book.others(claimOf(seen, revision));
    if (timer.isDue()) await timer.yield();
    const structure = this.structureOf(seen);
    if (timer.isDue()) await timer.yield();
    const status = statusAfter(seen, {
      revision,
      others,
      structure,
      naming: this.dependencies.config.naming,
      now: objectTime(this.dependencies.clock.now()),
    });
    if (!status) return;
    if (timer.isDue()) await timer.yield();
    await this.write(seen, status, signal);
  }

  /** Cached by generation, since schemas are large and change less often than the status. */
  private structureOf(definition: CustomResourceDefinition): Finding | undefined {
    const { name = '', uid, generation } = definition.metadata;
    const revision = `${uid}/${generation}`;
    const known = this.structures.get(name);
    if (known?.revision === revision) return known.finding;
    const finding = structureFinding(definition);
    this.structures.set(name, { revision, finding });
    return finding;
  }

  /** Writes the status only to the revision that it was computed from. A later revision is queued by its own event. */
  private async write(
    seen: CustomResourceDefinition,
    status: CustomResourceDefinitionStatus,
    signal: AbortSignal,
  ): Promise<void> {
    const { name = '', resourceVersion } = seen.metadata;
    await this.dependencies.client.change(
      { served: this.definitions, namespace: '', name },
      (current) => (current.metadata.resourceVersion === resourceVersion ? { ...current, status } : current),
      { subresource: 'status', signal },
    );
  }

  private async noteChanges(
    parse: (entry: EncodedObject) => CustomResourceDefinition,
    timer: YieldTimer,
  ): Promise<void> {
    const { store } = this.definitions;
    // The loop also visits names that are added while it yields.
    for (const name of this.changed) {
      if (timer.isDue()) await timer.yield();
      this.changed.delete(name);
      for (const waiting of this.book.note(name, store.cache.get(store.keyOf('', name)), parse))
        this.queue.add(waiting);
    }
  }
}
