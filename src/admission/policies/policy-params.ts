import type { ParamKind, ParamRef } from '../../catalog/types/admissionregistration.v1.js';
import { parseApiVersion } from '../../machinery/gvk.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { labelSelectorOf } from '../../machinery/label-selector-object.js';
import type { Cancellation } from '../../std/cancellation.js';
import { ConfigurationError } from '../request/configuration-error.js';
import type { ParamResource, PolicyObjects } from './policy-objects.js';

/**
 * Returns the resource of the params of a policy; undefined for a policy without params. Waits until its objects are
 * known: a param that is not known yet is not a missing one, which a binding may allow.
 */
export async function paramResourceOf(
  kind: ParamKind | undefined,
  objects: PolicyObjects,
  signal: Cancellation | undefined,
): Promise<ParamResource | undefined> {
  const resource = kind && servedParams(kind, objects);
  await resource?.load(signal);
  return resource;
}

function servedParams(kind: ParamKind, objects: PolicyObjects): ParamResource {
  const { apiVersion = '', kind: name = '' } = kind;
  const version = parseApiVersion(apiVersion);
  const found = version && objects.paramsOf({ ...version, kind: name });
  if (found) return found;
  throw new ConfigurationError(
    `failed to find resource referenced by paramKind: '${version?.group === '' ? '/' : ''}${apiVersion}, Kind=${name}'`,
  );
}

/**
 * Returns the params for which a policy is evaluated, undefined standing for none; an empty list if the policy does not
 * apply. `namespace` is that of the request.
 */
export function paramsOf(
  resource: ParamResource | undefined,
  ref: ParamRef | undefined,
  namespace: string,
): readonly (KubeObject | undefined)[] {
  if (!resource || !ref) return [undefined];
  const found = selectedParams(resource, ref, paramNamespace(resource, ref, namespace));
  if (found.length === 0 && ref.parameterNotFoundAction === 'Deny') {
    throw new ConfigurationError('no params found for policy binding with `Deny` parameterNotFoundAction');
  }
  return found;
}

function paramNamespace({ namespaced }: ParamResource, ref: ParamRef, requestNamespace: string): string {
  const { namespace: own = '' } = ref;
  if (!namespaced) {
    if (own === '') return '';
    throw new ConfigurationError('paramRef.namespace must not be provided for a cluster-scoped `paramKind`');
  }
  const namespace = own || requestNamespace;
  if (namespace !== '') return namespace;
  throw new ConfigurationError(
    'cannot use namespaced paramRef in policy binding that matches cluster-scoped resources',
  );
}

function selectedParams(
  resource: ParamResource,
  { name = '', selector }: ParamRef,
  namespace: string,
): readonly KubeObject[] {
  if (name !== '') {
    const found = resource.get(namespace, name);
    return found ? [found] : [];
  }
  if (!selector) throw new ConfigurationError('one of name or selector must be provided');
  return resource.select(namespace, labelSelectorOf(selector));
}
