import type { Aggregation } from '../../aggregation/aggregation.js';
import { RemoteCallError } from '../../aggregation/remote-client.js';
import { RemoteRefusal, type RemoteObjects } from '../../aggregation/remote-objects.js';
import type { RemoteRef } from '../../aggregation/remote-resources.js';
import { foregroundFinalizer } from '../../machinery/finalizers.js';
import { parseApiVersion } from '../../machinery/gvk.js';
import type { OwnerReference } from '../../machinery/kube-object.js';
import { validatePathSegment } from '../../machinery/names.js';
import type { Clock } from '../../std/clock.js';
import { WebhookCallError } from '../../webhook-client/webhook-call-error.js';
import type { OwnerState } from './decide.js';

interface Dependencies {
  readonly aggregation: Pick<Aggregation, 'versions' | 'documents'>;
  readonly objects: Pick<RemoteObjects, 'get'>;
  readonly clock: Clock;
}

/** A dependent whose owner is looked for. */
interface Dependent {
  readonly namespace: string;
  readonly isNamespaced: boolean;
}

/** Owners that exist are not read again in this time, since one may have thousands of dependents. */
const keptMs = 5_000;
const keptMax = 10_000;

/** Reads the state of owners on aggregated servers. */
export class RemoteOwners {
  /** Owners that were found, by uid. */
  private readonly kept = new Map<string, number>();

  constructor(private readonly dependencies: Dependencies) {}

  /** Returns the resource of an owner that an aggregated server has, as of the last read of its discovery. */
  refOf({ apiVersion, kind }: OwnerReference): RemoteRef | undefined {
    const { versions, documents } = this.dependencies.aggregation;
    const { group, version: name } = parseApiVersion(apiVersion) ?? { group: '', version: '' };
    const version = versions.find(group, name);
    if (!version) return undefined;
    const { resources, isCurrent } = documents.discoveryOf(version);
    const resource = isCurrent ? resources.find(({ responseKind }) => responseKind.kind === kind) : undefined;
    return resource?.verbs.includes('get') ? { version, resource } : undefined;
  }

  /** Returns `unknown` if the server does not tell whether the owner exists: its dependents are kept. */
  async stateOf(owner: OwnerReference, dependent: Dependent, signal: AbortSignal): Promise<OwnerState> {
    const ref = this.refOf(owner);
    if (!ref || owner.name === '' || validatePathSegment(owner.name).length > 0) return 'unknown';
    const isNamespaced = ref.resource.scope === 'Namespaced';
    if (isNamespaced && !dependent.isNamespaced) return 'misplaced';
    const nowMs = this.dependencies.clock.monotonicMs();
    const foundMs = this.kept.get(owner.uid);
    if (foundMs !== undefined && nowMs - foundMs < keptMs) return 'solid';
    try {
      const namespace = isNamespaced ? dependent.namespace : '';
      const found = await this.dependencies.objects.get(ref, namespace, owner.name, signal);
      if (found?.uid !== owner.uid) return 'absent';
      if (found.isDeleting && found.finalizers.includes(foregroundFinalizer)) return 'waiting';
      if (this.kept.size >= keptMax) this.kept.clear();
      this.kept.set(owner.uid, nowMs);
      return 'solid';
    } catch (error) {
      signal.throwIfAborted();
      const isNoAnswer =
        error instanceof RemoteRefusal || error instanceof RemoteCallError || error instanceof WebhookCallError;
      if (!isNoAnswer) throw error;
      return 'unknown';
    }
  }
}
