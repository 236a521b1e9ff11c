import { ClientError } from '../../kubeconfig-client/client-error.js';
import type { KubeconfigClient } from '../../kubeconfig-client/kubeconfig-client.js';
import { collectionPath } from '../../kubeconfig-client/served-kinds.js';
import { asFields, asText, type Fields } from '../../machinery/fields.js';
import { systemClock } from '../../std/clock.js';
import { forEachConcurrent } from '../../std/for-each-concurrent.js';
import { kindOf } from '../kind-names.js';
import { namespaceOf, pathOf, SoonServedKinds } from '../object-paths.js';
import type { Progress } from '../progress.js';
import type { ObjectSet } from '../snapshot/object-set.js';
import { rankOf } from '../write-order.js';

/**
 * For objects that exist: named as failures; left as they are; changed by server-side apply, which fails for fields of other
 * managers; or takes these over.
 */
export type ConflictPolicy = 'fail' | 'skip' | 'apply' | 'overwrite';

interface ImportSettings {
  /** The namespace that all objects were moved to. It may exist, unless it is to be changed by apply. */
  readonly namespace: string | undefined;
  readonly onConflict: ConflictPolicy;
  readonly progress: Progress;
}

interface ImportResult {
  readonly written: number;
  readonly skipped: number;
  /** `Deployment.apps shop/web: reason` */
  readonly failures: readonly string[];
}

const fieldManager = 'keelson-import';
const concurrency = 8;
const retriesMax = 5;
/** An object that was refused may need others. */
const passesMax = 2;

/** Writes objects, those that others need first. */
export async function importObjects(
  client: KubeconfigClient,
  objects: ObjectSet,
  { namespace, onConflict, progress }: ImportSettings,
): Promise<ImportResult> {
  const kinds = new SoonServedKinds(client);
  let failures = new Map<string, string>();
  let waiting = [...objects];
  let skipped = 0;
  const work = async ([key, object]: [string, Fields]) => {
    try {
      const isTarget = kindOf(object) === 'Namespace' && namespace !== undefined;
      const isWritten = await write(client, kinds, object, isTarget && onConflict === 'fail' ? 'skip' : onConflict);
      if (!isWritten) skipped++;
      progress.add();
    } catch (error) {
      if (!(error instanceof ClientError) || error.code !== 'Status' || error.status === 503) throw error;
      failures.set(key, error.message);
    }
  };
  for (let pass = 0; pass < passesMax && waiting.length > 0; pass++) {
    failures = new Map();
    const ranks = new Set(waiting.map(([, object]) => rankOf(asText(object['kind']))));
    for (const rank of [...ranks].sort((one, other) => one - other)) {
      const items = waiting.filter(([, object]) => rankOf(asText(object['kind'])) === rank);
      await forEachConcurrent(items, { concurrency, clock: systemClock }, work);
    }
    waiting = waiting.filter(([key]) => failures.has(key));
  }
  const written = objects.size - failures.size - skipped;
  return { written, skipped, failures: [...failures].map(([key, problem]) => `${key}: ${problem}`) };
}

/** Returns false if the object exists and is left as it is. */
async function write(
  client: KubeconfigClient,
  kinds: SoonServedKinds,
  object: Fields,
  onConflict: ConflictPolicy,
): Promise<boolean> {
  const kind = await kinds.of(object);
  if (onConflict === 'apply' || onConflict === 'overwrite') {
    const query = { fieldManager, force: onConflict === 'overwrite' };
    await client.patch(pathOf(kind, object), object, { type: 'apply', query, retriesMax });
    return true;
  }
  try {
    await client.create(collectionPath(kind, namespaceOf(object)), object, { query: { fieldManager }, retriesMax });
    return true;
  } catch (error) {
    if (onConflict !== 'skip' || !(error instanceof ClientError) || error.reason !== 'AlreadyExists') throw error;
    return false;
  }
}

/** Returns the objects of a namespace as those of another one. Objects of no namespace are left out, except itself. */
export function inNamespace(
  object: Fields,
  { namespace, isNamespaced }: { readonly namespace: string; readonly isNamespaced: boolean },
): Fields | undefined {
  const metadata = asFields(object['metadata']);
  if (kindOf(object) === 'Namespace') return { ...object, metadata: { ...metadata, name: namespace } };
  if (!isNamespaced) return undefined;
  const moved = { ...object, metadata: { ...metadata, namespace } };
  const { subjects } = object;
  if (kindOf(object) !== 'RoleBinding.rbac.authorization.k8s.io' || !Array.isArray(subjects)) return moved;
  return { ...moved, subjects: subjects.map((subject) => movedSubject(subject, metadata['namespace'], namespace)) };
}

/** The subject of a RoleBinding: a ServiceAccount beside it moves with it, all others are as they were. */
function movedSubject(subject: unknown, from: unknown, namespace: string): unknown {
  const fields = asFields(subject);
  return from !== undefined && fields['kind'] === 'ServiceAccount' && fields['namespace'] === from
    ? { ...fields, namespace }
    : subject;
}
