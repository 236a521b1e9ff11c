import type { ForwardPlan } from '../forwarding/forward-plan.js';
import type { EncodedObject } from '../cache/encoded-object.js';
import { admissionAttributes } from '../admission/admission-attributes.js';
import type { AdmissionChain } from '../admission/admission-chain.js';
import type { AdmissionOperation } from '../admission/admission-operation.js';
import type { Status } from '../machinery/api-error.js';
import type { KubeObject } from '../machinery/kube-object.js';
import type { Revision } from '../machinery/revision.js';
import type { Preconditions } from '../registry/write/preconditions.js';
import type { RequestContext } from '../registry/request-context.js';
import type { ResourceDefinition, ViewSubresource } from '../registry/definition/resource-definition.js';
import type { ServedResource } from '../registry/resource-registry.js';
import { toServedVersion } from '../registry/definition/served-version.js';
import { untilReady } from '../std/not-ready.js';
import type { Admit } from '../registry/write/write-context.js';

/** The object of a request, with the context of the request. */
export interface Target {
  readonly served: ServedResource;
  readonly namespace: string;
  readonly name: string;
  readonly context: RequestContext;
  /** The uid or resourceVersion of the `If-Match` header. */
  readonly preconditions?: Preconditions | undefined;
}

/** The result of a verb, independent of the connection and the encoding. */
export type VerbAnswer =
  /** Stored bytes that can be sent unchanged. */
  | { readonly type: 'stored'; readonly code: number; readonly encoded: EncodedObject }
  /** An object computed for this response. */
  | { readonly type: 'computed'; readonly code: number; readonly object: KubeObject }
  | { readonly type: 'nothing'; readonly code: number }
  /** Another server answers. */
  | { readonly type: 'forward'; readonly plan: ForwardPlan }
  | { readonly type: 'status'; readonly status: Status }
  | {
      readonly type: 'list';
      readonly revision: Revision;
      readonly objects: readonly EncodedObject[];
      readonly continueToken: string | undefined;
    }
  /** Objects computed for this response. */
  | { readonly type: 'computedList'; readonly objects: readonly KubeObject[] };

/**
 * Returns the answer to a write: the view of a subresource that has a kind of its own, otherwise the object in the version
 * of the request.
 */
export function answerOf(
  definition: ResourceDefinition,
  { encoded, object }: { readonly encoded: EncodedObject | undefined; readonly object: KubeObject },
  code: number,
  viewSubresource?: ViewSubresource,
): VerbAnswer | Promise<VerbAnswer> {
  if (viewSubresource?.viewKind)
    return { type: 'computed', code, object: viewSubresource.view(encoded?.parse() ?? object) };
  if (encoded) return { type: 'stored', code, encoded };
  return untilReady(() => ({ type: 'computed', code, object: toServedVersion(definition, object) }));
}

/** Throws 403 if the user may update or patch the object but not create it. */
export type RequireCreate = () => Promise<void>;

/**
 * Returns the admission hooks of one write. `requireCreate` runs before validation of an object that an update or apply
 * creates, since the request was authorized for another verb.
 */
export function admissionFor(
  chain: AdmissionChain,
  target: Target,
  operation: AdmissionOperation,
  subresource: string,
  requireCreate?: RequireCreate,
): Admit {
  const { definition } = target.served;
  /** Converts the objects by the conversion webhook, if there is one, so that plug-ins can see them. */
  const convert = async (objects: readonly (KubeObject | undefined)[]) =>
    definition.hub?.fromHubAhead?.(
      objects.filter((each) => each !== undefined),
      target.context.steps?.trace,
    );
  const converts = definition.hub?.fromHubAhead !== undefined;
  /** The name before mutating plug-ins, which may change it in a POST. */
  let requestedName = target.name;
  const attributes = (object: KubeObject | undefined, old: KubeObject | undefined, canonical?: KubeObject) =>
    admissionAttributes({
      // A PUT or apply to a name that does not exist is a create.
      operation: operation === 'UPDATE' && old === undefined ? 'CREATE' : operation,
      resource: target.served.store.groupResource,
      kind: definition.kind,
      served: target.served,
      subresource,
      namespaced: definition.namespaced,
      namespace: target.namespace,
      name: requestedName,
      object,
      old,
      canonical,
      request: target.context,
      write: admission,
    });
  const admission: Admit = {
    admit(object, old) {
      requestedName ||= object?.metadata.name ?? '';
      const admit = () => chain.admit(attributes(object, old));
      return converts ? convert([object, old]).then(admit) : admit();
    },
    async validate(object, old, canonical) {
      if (requireCreate && old === undefined) await requireCreate();
      if (converts) await convert([object, old]);
      await chain.validate(attributes(object, old, canonical));
    },
  };
  return admission;
}
