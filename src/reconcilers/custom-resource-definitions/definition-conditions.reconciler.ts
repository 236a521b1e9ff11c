import type { EncodedObject } from '../../cache/encoded-object.js';
import type { Fields } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { apiextensionsVersion } from '../../modules/apiextensions/apiextensions.resources.js';
import type { Finding } from '../../custom-kinds/definition-conditions.js';
import { structureFinding } from '../../custom-kinds/definition-structure.js';
import type { ServedResource } from '../../registry/resource-registry.js';
import { objectTime } from '../../registry/write/system-fields.js';
import { yieldEventLoop } from '../../std/yield-event-loop.js';
import { YieldTimer } from '../../std/yield-timer.js';
import type { Reconciler, ReconcilerParts, RunningReconciler } from '../reconciler.js';
import { ClaimBook, claimOf } from './claims.js';
import { statusAfter } from './decide.js';

/** Gives definitions their names, and has them served. Every server does it: users wait for it. */
export const definitionConditions: Reconciler = {
  name: 'crd-condition-controller',
  fieldManager: (naming) => naming.systemName('apiserver'),
  start(parts) {
    const { group, version } = apiextensionsVersion(parts.config.naming);
    const definitions = parts.registry.find(group, version, 'customresourcedefinitions');
    // --runtime-config may leave them out.
    if (definitions?.type !== 'stored') return { stop: async () => undefined };
    return new DefinitionConditions(parts, definitions);
  },
};

class DefinitionConditions implements RunningReconciler {
  private readonly book = new ClaimBook();
  /** What the book has not noted yet. */
  private readonly changed = new Set<string>();
  private readonly structures = new Map<string, { readonly of: string; readonly finding: Finding | undefined }>();
  private readonly queue;
  private readonly end: () => void;

  constructor(
    private readonly parts: ReconcilerParts,
    private readonly definitions: ServedResource,
  ) {
    // One at a time: each depends on what the one before it was given.
    this.queue = parts.queue('crd_naming_condition_controller', (name, signal) => this.reconcile(name, signal));
    const { store } = definitions;
    const look = (name: string) => {
      this.changed.add(name);
      this.queue.add(name);
    };
    this.end = store.cache.observe({
      changed: ({ current, previous }) => look((current ?? previous)!.attributes.name),
      reset: () => {
        this.book.clear();
        this.structures.clear();
        for (const { attributes } of store.cache.snapshot().range(store.scopeOf(''))) look(attributes.name);
      },
    });
  }

  async stop(): Promise<void> {
    this.end();
    await this.queue.stop();
  }

  private async reconcile(name: string, signal: AbortSignal): Promise<void> {
    const { store } = this.definitions;
    // A definition may be large, and those who serve it have just read it in this turn.
    await yieldEventLoop();
    const timer = new YieldTimer(this.parts.clock);
    const entry = store.cache.get(store.keyOf('', name));
    const seen = entry && !entry.corruption ? entry.parse() : undefined;
    if (timer.isDue()) await timer.yield();
    await this.noteChanges((other) => (other === entry && seen ? seen : other.parse()), timer);
    if (!entry) this.structures.delete(name);
    if (!entry || !seen) return;
    const { revision } = entry;
    // Taken before others run: the book may be cleared meanwhile.
    const others = this.book.others(claimOf(seen, revision));
    if (timer.isDue()) await timer.yield();
    const structure = this.structureOf(seen);
    if (timer.isDue()) await timer.yield();
    const status = statusAfter(seen, {
      revision,
      others,
      structure,
      naming: this.parts.config.naming,
      now: objectTime(this.parts.clock.now()),
    });
    if (!status) return;
    if (timer.isDue()) await timer.yield();
    await this.write(seen, status, signal);
  }

  /** Schemas are large, and change far less often than what is said of them. */
  private structureOf(definition: KubeObject): Finding | undefined {
    const { name = '', uid, generation } = definition.metadata;
    const of = `${uid}/${generation}`;
    const known = this.structures.get(name);
    if (known?.of === of) return known.finding;
    const finding = structureFinding(definition);
    this.structures.set(name, { of, finding });
    return finding;
  }

  /** The decision holds for the state that it was made of. Another one comes back by itself. */
  private async write(seen: KubeObject, status: Fields, signal: AbortSignal): Promise<void> {
    const { name = '', resourceVersion } = seen.metadata;
    await this.parts.client.change(
      { served: this.definitions, namespace: '', name },
      (current) => (current.metadata.resourceVersion === resourceVersion ? { ...current, status } : current),
      { subresource: 'status', signal },
    );
  }

  private async noteChanges(parse: (entry: EncodedObject) => KubeObject, timer: YieldTimer): Promise<void> {
    const { store } = this.definitions;
    // Names that are added while others run are visited as well.
    for (const name of this.changed) {
      if (timer.isDue()) await timer.yield();
      this.changed.delete(name);
      for (const waiting of this.book.note(name, store.cache.get(store.keyOf('', name)), parse))
        this.queue.add(waiting);
    }
  }
}
