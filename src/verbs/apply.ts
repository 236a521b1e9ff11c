import type { AdmissionChain } from '../admission/admission-chain.js';
import { ApiError } from '../machinery/api-error.js';
import { asText } from '../machinery/fields.js';
import { apiVersionOf } from '../machinery/gvk.js';
import type { JsonObject, KubeObject } from '../machinery/kube-object.js';
import type { LensSubresource } from '../registry/resource-definition.js';
import { toStored } from '../registry/served-version.js';
import type { Submission } from '../registry/submission.js';
import { objectTime } from '../registry/system-fields.js';
import { updateObject } from '../registry/update.js';
import { lensOf } from './lens.js';
import { checkName, placeInNamespace } from './placement.js';
import { readAs } from './submitted.js';
import { answer } from './update.js';
import { admissionFor, type Target, type VerbAnswer } from './verb.js';

/** Server-side apply: the object becomes what its appliers together want; it is created when it is not there. */
export async function apply(
  chain: AdmissionChain,
  target: Target,
  subresource: string,
  { value, fields }: Submission,
  force: boolean,
): Promise<VerbAnswer> {
  const { definition, store } = target.served;
  const lens = subresource === '' ? undefined : lensOf(target.served, subresource, 'patch');
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw ApiError.badRequest('error decoding apply: the configuration is not an object');
  }
  const refusals = fields.refusals([], target.context.warnings);
  if (refusals.length > 0)
    throw ApiError.badRequest(`error strict decoding YAML: error converting YAML to JSON: ${refusals.join(', ')}`);
  const submitted = value as JsonObject;
  const config = lens?.viewKind ? throughLens(submitted, lens, target) : submitted;
  const applied = (live: KubeObject | undefined): KubeObject => {
    const object = store.ownership.applied({
      definition,
      subresource,
      manager: target.context.fieldManager,
      time: objectTime(store.parts.clock.now()),
      live,
      config,
      force,
    });
    checkName(object, target.name);
    placeInNamespace(object, target.namespace, definition.namespaced);
    const whole = toStored(definition, readAs(target.served, object).object);
    return lens?.viewKind ? { ...lens.view(whole), metadata: whole.metadata } : whole;
  };
  const written = await updateObject(
    store,
    target,
    applied,
    { lens, requiresResourceVersion: false, createsMissing: !lens },
    { request: target.context, admission: admissionFor(chain, target, 'UPDATE', subresource) },
  );
  return answer(definition, written, lens);
}

/** A configuration of a view (a Scale) as one of the object that it is a view of. */
function throughLens(config: JsonObject, lens: LensSubresource, { served, name, namespace }: Target): JsonObject {
  const { kind, apiVersion } = config;
  const want = apiVersionOf(lens.viewKind!.group, lens.viewKind!.version);
  if (kind !== lens.viewKind!.kind || apiVersion !== want) {
    throw ApiError.badRequest(
      `a configuration of this subresource is a ${lens.viewKind!.kind} of ${want}, not a ${asText(kind)} of ${asText(apiVersion)}`,
    );
  }
  const { group, version, kind: ownKind } = served.definition;
  const empty = {
    kind: ownKind,
    apiVersion: apiVersionOf(group, version),
    metadata: { name, ...(namespace !== '' && { namespace }) },
  };
  const view = { metadata: {}, ...config } as unknown as KubeObject;
  return lens.put(empty, view) as unknown as JsonObject;
}
