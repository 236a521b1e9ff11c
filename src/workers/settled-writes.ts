import type { Revision } from '../machinery/revision.js';
import { SharedWatchStore } from '../storage/decorators/shared-watches.js';
import type { CallOptions, Compare, KvStore, TxnResult, Write } from '../storage/kv-store.js';

/** Resources that decide about requests for others, by the part of their name that all naming profiles share. */
const decidingResources = [
  'clusterrolebindings',
  'clusterroles',
  'customresourcedefinitions',
  'mutatingadmissionpolicies',
  'mutatingadmissionpolicybindings',
  'mutatingwebhookconfigurations',
  'namespaces',
  'rolebindings',
  'roles',
  'validatingadmissionpolicies',
  'validatingadmissionpolicybindings',
  'validatingwebhookconfigurations',
];

/**
 * The store of several processes. A write of an object that decides about other requests is acknowledged when all
 * processes have applied it: a client that has bound a role and then uses it may reach another process.
 */
export class SettlingStore extends SharedWatchStore {
  private readonly deciding: ReadonlySet<string> = new Set(decidingResources);

  constructor(
    store: KvStore,
    /** `/registry/` */
    private readonly root: string,
    /** Resolves when all processes have applied a revision, or one of them takes too long. */
    private readonly settled: (revision: Revision) => Promise<void>,
  ) {
    super(store);
  }

  override async txn(
    compares: readonly Compare[],
    writes: readonly Write[],
    options?: CallOptions,
  ): Promise<TxnResult> {
    const result = await super.txn(compares, writes, options);
    if (result.succeeded && writes.some(({ key }) => this.decides(key))) await this.settled(result.revision);
    return result;
  }

  /** `/registry/clusterroles/…`, `/registry/apiextensions.k8s.io/customresourcedefinitions/…` */
  private decides(key: string): boolean {
    const [first = '', second = ''] = key.slice(this.root.length).split('/', 2);
    return this.deciding.has(first) || (first.includes('.') && this.deciding.has(second));
  }
}
