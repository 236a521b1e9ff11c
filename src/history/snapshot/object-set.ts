import { ClientError } from '../../kubeconfig-client/client-error.js';
import { asFields, asText, type Fields } from '../../machinery/fields.js';
import { keyOf } from '../cluster-objects.js';
import { fieldChanges, type FieldChange } from '../field-changes.js';

/** Objects by their kind, namespace and name. */
export type ObjectSet = ReadonlyMap<string, Fields>;

/** Reads objects into memory. Rejects with ClientError for something that is no object, or is there twice. */
export async function objectSet(objects: AsyncIterable<Fields>, source: string): Promise<ObjectSet> {
  const set = new Map<string, Fields>();
  for await (const object of objects) {
    checkNames(object, source);
    const key = keyOf(object);
    if (set.has(key)) throw new ClientError('Kubeconfig', `${source} has ${key} twice`);
    set.set(key, object);
  }
  return set;
}

/** Rejects objects whose names would be another path on the server. */
function checkNames(object: Fields, source: string): void {
  const { name, namespace } = asFields(object['metadata']);
  const hasKind = asText(object['apiVersion']) !== '' && asText(object['kind']) !== '';
  if (!hasKind || !isPathSegment(name) || (namespace !== undefined && namespace !== '' && !isPathSegment(namespace))) {
    throw new ClientError(
      'Kubeconfig',
      `${source} has an object without apiVersion, kind or a valid name: ${keyOf(object)}`,
    );
  }
}

/** As kube-apiserver checks names of all kinds. */
const isPathSegment = (name: unknown): boolean =>
  typeof name === 'string' && name !== '' && name !== '.' && name !== '..' && !/[/%]/.test(name);

/** An object that is in one set only, or differs. */
export interface Difference {
  readonly key: string;
  readonly kind: string;
  readonly type: 'added' | 'removed' | 'changed';
  readonly fields: readonly FieldChange[];
}

/** Returns the differences between two sets in the order of keys. ResourceVersions and managers are not compared. */
export function differences(before: ObjectSet, after: ObjectSet): Difference[] {
  const found: Difference[] = [];
  for (const key of [...new Set([...before.keys(), ...after.keys()])].sort()) {
    const [old, now] = [before.get(key), after.get(key)];
    const kind = asText((now ?? old)!['kind']);
    if (!old || !now) found.push({ key, kind, type: old ? 'removed' : 'added', fields: [] });
    else {
      const fields = fieldChanges(withoutBookkeeping(old), withoutBookkeeping(now));
      if (fields.length > 0) found.push({ key, kind, type: 'changed', fields });
    }
  }
  return found;
}

function withoutBookkeeping(object: Fields): Fields {
  const { resourceVersion: _version, managedFields: _managedFields, ...metadata } = asFields(object['metadata']);
  return { ...object, metadata };
}
