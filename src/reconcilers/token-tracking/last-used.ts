import type { UsedSecret } from '../../auth/token-uses.js';
import { dayOf, isUseRecorded, lastUsedLabel } from '../../auth/token-uses.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import type { ReconcilerDependencies, RunningReconciler } from '../reconciler.js';

const workersMax = 5;

/**
 * Writes the day of use into the label `legacy-token-last-used` of Secrets with service account tokens, at most once a
 * day for each. Controllers delete Secrets that were not used for long.
 */
export class LastUsedLabels implements RunningReconciler {
  private readonly secrets;
  /** Items are `namespace/name/uid`. */
  private readonly queue;
  /** Items that are not written yet, so that another use does not shorten the delay after a failure. */
  private readonly pending = new Set<string>();
  private readonly end: () => void;

  constructor(private readonly dependencies: ReconcilerDependencies) {
    const { registry, queue, tokenUses } = dependencies;
    this.secrets = registry.require('', 'v1', 'secrets');
    this.queue = queue('legacy_token_last_used', (item, signal) => this.record(item, signal), { workersMax });
    this.end = tokenUses.onUnrecordedUse((secret) => this.used(secret));
  }

  async stop(): Promise<void> {
    this.end();
    await this.queue.stop();
  }

  private used({ attributes: { namespace, name, uid } }: UsedSecret): void {
    const item = `${namespace}/${name}/${uid}`;
    if (this.pending.has(item)) return;
    this.pending.add(item);
    this.queue.add(item);
  }

  private async record(item: string, signal: AbortSignal): Promise<void> {
    const [namespace = '', name = '', uid = ''] = item.split('/');
    const { store } = this.secrets;
    const found = store.cache.get(store.keyOf(namespace, name));
    // A Secret with fields that this server does not know would lose them.
    if (found && found.attributes.uid === uid && !found.corruption && found.unknownFields.length === 0) {
      const ref = { served: this.secrets, namespace, name };
      await this.dependencies.client.change(ref, (current) => this.labeled(current), {
        preconditions: { uid },
        signal,
      });
    }
    this.pending.delete(item);
  }

  /** Returns `current` itself if another server has recorded the day. */
  private labeled(current: KubeObject): KubeObject {
    const { config, clock } = this.dependencies;
    const { labelDomain } = config.naming;
    const { metadata } = current;
    const nowMs = clock.now();
    if (metadata.deletionTimestamp !== undefined || isUseRecorded(metadata.labels, labelDomain, nowMs)) return current;
    const labels = { ...metadata.labels, [lastUsedLabel(labelDomain)]: dayOf(nowMs) };
    return { ...current, metadata: { ...metadata, labels } };
  }
}
