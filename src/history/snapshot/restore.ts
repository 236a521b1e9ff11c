import { ClientError } from '../../kubeconfig-client/client-error.js';
import type { KubeconfigClient } from '../../kubeconfig-client/kubeconfig-client.js';
import { collectionPath, type ServedKind } from '../../kubeconfig-client/served-kinds.js';
import { asFields, type Fields } from '../../machinery/fields.js';
import { systemClock } from '../../std/clock.js';
import { forEachConcurrent } from '../../std/for-each-concurrent.js';
import { fieldChanges } from '../field-changes.js';
import { namespaceOf, pathOf, SoonServedKinds } from '../object-paths.js';
import type { Progress } from '../progress.js';
import { restorable, uidOf, withUids, type Restored, type RestorePlan } from './restore-plan.js';

const fieldManager = 'keelson-restore';
const concurrency = 8;
const retriesMax = 5;
/** Passes over objects that were refused: an object may need others. */
const passesMax = 3;

/** Makes the writes of a plan. Returns what could not be written, each with the reason. */
export async function restore(client: KubeconfigClient, plan: RestorePlan, progress: Progress): Promise<string[]> {
  return new Restoration(client, progress).run(plan);
}

class Restoration {
  private readonly kinds: SoonServedKinds;
  /** The uids of saved objects that have other uids on the server. */
  private readonly uids = new Map<string, string>();
  private failures = new Map<string, string>();

  constructor(
    private readonly client: KubeconfigClient,
    private readonly progress: Progress,
  ) {
    this.kinds = new SoonServedKinds(client);
  }

  async run({ creates, replaces, deletes }: RestorePlan): Promise<string[]> {
    await this.forEach(deletes, (item) => this.delete(item));
    for (const { wanted, live } of replaces) this.noteUid(wanted, live!);
    let waiting = [...creates, ...replaces].sort((one, other) => one.stage - other.stage);
    const refusedDeletes = this.failures;
    for (let pass = 0; pass < passesMax && waiting.length > 0; pass++) {
      this.failures = new Map();
      await this.pass(waiting);
      waiting = waiting.filter(({ key }) => this.failures.has(key));
    }
    return [...refusedDeletes, ...this.failures].map(([key, problem]) => `${key}: ${problem}`);
  }

  /** Writes objects that others need before those others. */
  private async pass(items: readonly Restored[]): Promise<void> {
    for (const stage of new Set(items.map((item) => item.stage))) {
      await this.forEach(
        items.filter((item) => item.stage === stage),
        (item) => this.write(item),
      );
    }
  }

  private async forEach<T extends { readonly key: string }>(
    items: readonly T[],
    work: (item: T) => Promise<void>,
  ): Promise<void> {
    await forEachConcurrent(items, { concurrency, clock: systemClock }, async (item) => {
      try {
        await work(item);
        this.progress.add();
      } catch (error) {
        // Without the server there is nothing to go on with; a later run continues.
        if (!(error instanceof ClientError) || error.code !== 'Status' || error.status === 503) throw error;
        this.failures.set(item.key, error.message);
      }
    });
  }

  private async delete({ live }: { readonly live: Fields }): Promise<void> {
    const kind = await this.kinds.of(live);
    const preconditions = { uid: uidOf(live) };
    try {
      await this.client.delete(pathOf(kind, live), { retriesMax }, { propagationPolicy: 'Background', preconditions });
    } catch (error) {
      if (!(error instanceof ClientError) || error.status !== 404) throw error;
    }
  }

  private async write({ wanted, live }: Restored): Promise<void> {
    const kind = await this.kinds.of(wanted);
    const object = restorable(withUids(wanted, this.uids));
    const written = live ? await this.replace(kind, object, live) : await this.create(kind, object);
    this.noteUid(wanted, written);
    const { status } = object;
    if (!kind.hasStatus || status === undefined) return;
    if (fieldChanges(status, written['status']).length === 0) return;
    const body = { apiVersion: object['apiVersion'], kind: object['kind'], ...written, status };
    await this.client.update(`${pathOf(kind, object)}/status`, body, { query: { fieldManager }, retriesMax });
  }

  /** Creates an object, or replaces one that the server has made of itself meanwhile, as a default ServiceAccount. */
  private async create(kind: ServedKind, object: Fields): Promise<Fields> {
    const path = collectionPath(kind, namespaceOf(object));
    try {
      return await this.client.create<Fields>(path, object, { query: { fieldManager }, retriesMax });
    } catch (error) {
      if (!(error instanceof ClientError) || error.reason !== 'AlreadyExists') throw error;
      return this.replace(kind, object, await this.client.get<Fields>(pathOf(kind, object)));
    }
  }

  /** Replaces an object unless another client changes it meanwhile, which a later pass or run repairs. */
  private async replace(kind: ServedKind, object: Fields, live: Fields): Promise<Fields> {
    const { resourceVersion, uid } = asFields(live['metadata']);
    const metadata = { ...asFields(object['metadata']), resourceVersion, uid };
    const path = pathOf(kind, object);
    try {
      return await this.client.update<Fields>(path, { ...object, metadata }, { query: { fieldManager }, retriesMax });
    } catch (error) {
      if (!(error instanceof ClientError) || error.status !== 409) throw error;
      const newer = asFields((await this.client.get<Fields>(path))['metadata']);
      const again = { ...metadata, resourceVersion: newer['resourceVersion'], uid: newer['uid'] };
      return this.client.update<Fields>(path, { ...object, metadata: again }, { query: { fieldManager }, retriesMax });
    }
  }

  private noteUid(wanted: Fields, written: Fields): void {
    if (uidOf(wanted) !== '' && uidOf(wanted) !== uidOf(written)) this.uids.set(uidOf(wanted), uidOf(written));
  }
}
