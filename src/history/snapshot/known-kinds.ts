import { ClientError } from '../../kubeconfig-client/client-error.js';
import type { ServedKind } from '../../kubeconfig-client/served-kinds.js';
import { asFields, asItems, asText, type Fields } from '../../machinery/fields.js';
import { apiVersionOf } from '../cluster-objects.js';
import { kindName, kindOf } from '../kind-names.js';
import type { ObjectSet } from './object-set.js';

/** The kinds of a server as a snapshot records them: `apps/v1 Deployment`. */
export const recordedKinds = (kinds: readonly ServedKind[]): string[] =>
  kinds.map((kind) => `${apiVersionOf(kind)} ${kind.kind}`);

/** Returns a function that is true for objects of namespaces; for kinds that are not served, if they name one. */
export function scopesOf(kinds: readonly ServedKind[]): (object: Fields) => boolean {
  const scopes = new Map(kinds.map((kind) => [kindName(apiVersionOf(kind), kind.kind), kind.isNamespaced]));
  return (object) => scopes.get(kindOf(object)) ?? asFields(object['metadata'])['namespace'] !== undefined;
}

/** Rejects objects of kinds that the server does not serve and none of them defines. */
export function checkServed(saved: ObjectSet, kinds: readonly ServedKind[]): void {
  const known = new Set(kinds.map((kind) => kindName(apiVersionOf(kind), kind.kind)));
  for (const object of saved.values())
    if (object['kind'] === 'CustomResourceDefinition') known.add(definedKind(object));
  const unknown = new Set([...saved.values()].map(kindOf).filter((kind) => !known.has(kind)));
  if (unknown.size === 0) return;
  throw new ClientError('Kubeconfig', `the server does not serve ${[...unknown].join(', ')}: nothing was written`);
}

function definedKind(definition: Fields): string {
  const { group, names } = asFields(definition['spec']);
  return `${asText(asFields(names)['kind'])}.${asText(group)}`;
}

/** Splits live objects into those of kinds that a snapshot has read, and the other kinds, which a restore leaves alone. */
export function ofRecordedKinds(live: ObjectSet, recorded: readonly string[]) {
  const known = new Set(recorded.map((text) => kindName(text.split(' ')[0]!, text.split(' ')[1] ?? '')));
  const others = new Set<string>();
  const objects = new Map<string, Fields>();
  for (const [key, object] of live) {
    if (known.has(kindOf(object))) objects.set(key, object);
    else others.add(kindOf(object));
  }
  return { objects, others: [...others].sort() };
}

/** Names of the custom kinds of a server, which end with their definitions. */
export const definedKinds = (objects: ObjectSet): string[] =>
  asItems([...objects.values()])
    .filter(({ kind }) => kind === 'CustomResourceDefinition')
    .map(definedKind);
