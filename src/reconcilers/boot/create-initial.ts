import { stringifyJson } from '../../codec/json.js';
import { deepFreeze } from '../../config/deep-freeze.js';
import type { FeatureGates } from '../../config/feature-gates.js';
import { deepEqual } from '../../machinery/deep-equal.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import type { ResourceDefinition } from '../../registry/definition/resource-definition.js';
import type { ResourceStore } from '../../registry/resource-store.js';
import { createObject } from '../../registry/write/create.js';
import { createLike } from '../../registry/write/create-like.js';
import type { WriteContext } from '../../registry/write/write-context.js';

/** An initial object as a server of this process has created it, and what it was made from. All of it is frozen. */
interface Model {
  readonly wanted: KubeObject;
  readonly gates: string;
  readonly fieldManager: string;
  readonly object: KubeObject;
}

/** By the definition, which servers with the same names of groups share, and by namespace and name. */
const models = new WeakMap<ResourceDefinition, Map<string, Model>>();
/** For each definition: more than the initial objects of a kind. Those of further namespaces are not kept. */
const modelsMax = 256;
/** Texts of feature gates, on which defaults and dropped fields depend. */
const gateTexts = new WeakMap<FeatureGates, string>();

/**
 * Creates an initial object. The first server of a process makes it from what is wanted, as any other object; later ones
 * with the same definition and feature gates copy the result, with a uid and times of their own. `wanted` is not changed.
 */
export async function createInitial(store: ResourceStore, wanted: KubeObject, context: WriteContext): Promise<void> {
  if (store.reserve) return void (await createObject(store, structuredClone(wanted), context));
  const { definition, dependencies } = store;
  const known = modelsOf(definition);
  const { name = '', namespace = '' } = wanted.metadata;
  const ref = `${namespace}/${name}`;
  const gates = textOf(dependencies.featureGates ?? {});
  const { fieldManager } = context.request;
  const model = known.get(ref);
  if (model?.gates === gates && model.fieldManager === fieldManager && deepEqual(model.wanted, wanted)) {
    return createLike(store, model.object, context);
  }
  const { object } = await createObject(store, structuredClone(wanted), context);
  if (model || known.size < modelsMax) known.set(ref, deepFreeze({ wanted, gates, fieldManager, object }));
}

function modelsOf(definition: ResourceDefinition): Map<string, Model> {
  let known = models.get(definition);
  if (!known) models.set(definition, (known = new Map<string, Model>()));
  return known;
}

function textOf(gates: FeatureGates): string {
  let text = gateTexts.get(gates);
  if (text === undefined) gateTexts.set(gates, (text = stringifyJson(gates)));
  return text;
}
