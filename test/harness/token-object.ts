import type { TokenObject } from '../../src/auth/authenticators/token-objects.js';
import type { KubeObject } from '../../src/machinery/kube-object.js';

const known = new WeakMap<KubeObject, TokenObject & { readonly parses: number }>();

/** Returns the object as a cache holds it, always the same for the same object; it counts how often it is parsed. */
export function tokenObject(object: KubeObject): TokenObject & { readonly parses: number };
export function tokenObject(object: KubeObject | undefined): TokenObject | undefined;
export function tokenObject(object: KubeObject | undefined): TokenObject | undefined {
  if (!object) return undefined;
  const { name = '', namespace = '', uid, labels, deletionTimestamp } = object.metadata;
  let parses = 0;
  const made = {
    attributes: {
      ...{ name, namespace, uid, labels, fields: {} },
      lifetime: { owners: [], finalizers: [], isDeleting: deletionTimestamp !== undefined },
    },
    get parses() {
      return parses;
    },
    parse() {
      parses++;
      return structuredClone(object);
    },
  };
  if (!known.has(object)) known.set(object, made);
  return known.get(object)!;
}
