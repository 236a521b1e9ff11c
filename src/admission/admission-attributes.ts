import type { AdmissionAttributes } from './admission-plugin.js';

type Defaulted = 'subresource' | 'old' | 'canonical';

/** Attributes without those that default: `subresource` to the main resource, the others to none. */
type AttributesInput = Omit<AdmissionAttributes, Defaulted> & Partial<Pick<AdmissionAttributes, Defaulted>>;

/**
 * Builds the attributes of one request. `resource` is the group and resource under which the object is stored; `kind` is
 * the kind of `object`, which for a subresource may be that of the request body. The name defaults to that of `object`.
 */
export function admissionAttributes(input: AttributesInput): AdmissionAttributes {
  const {
    operation,
    resource,
    kind,
    served,
    subresource = '',
    namespaced,
    namespace,
    name,
    object,
    old,
    canonical,
    request,
    write,
  } = input;
  return {
    operation,
    resource,
    kind,
    served,
    subresource,
    namespaced,
    namespace,
    name: name || (object?.metadata.name ?? ''),
    object,
    old,
    canonical,
    request,
    ...(write && { write }),
  };
}
