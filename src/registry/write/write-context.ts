import type { KubeObject } from '../../machinery/kube-object.js';
import type { RequestContext } from '../request-context.js';
import type { ResourceDefinition } from '../definition/resource-definition.js';

/** The admission of one write, passed in by the verbs because this layer does not know plug-ins. Throws to reject. */
export interface Admit {
  /** Runs mutating plug-ins, which change `object` in place. */
  admit(object: KubeObject | undefined, old: KubeObject | undefined): Promise<void>;
  /** Runs validating plug-ins, which change nothing. `canonical` is the object in the form in which it will be stored. */
  validate(object: KubeObject | undefined, old: KubeObject | undefined, canonical?: KubeObject): Promise<void>;
}

/** Admits every object: for writes of the server itself, and for writes of a request that was admitted before. */
export const noAdmission: Admit = {
  admit: () => Promise.resolve(),
  validate: () => Promise.resolve(),
};

/** Decides how a create or update sets metadata.managedFields. */
export type ManagedFieldsMode =
  /** Records the changed fields for the field manager of the request, in the version and subresource of the request. */
  | { readonly mode: 'track'; readonly definition: ResourceDefinition; readonly subresource: string }
  /** Server-side apply in this version has computed managedFields of the submitted object; they are stored unchanged. */
  | { readonly mode: 'supplied'; readonly definition: ResourceDefinition }
  /** A write of this server that no field manager owns; managedFields of the object are stored unchanged. */
  | { readonly mode: 'none' };

export interface DeleteContext {
  readonly request: RequestContext;
  readonly admission: Admit;
}

export interface WriteContext extends DeleteContext {
  readonly managedFields: ManagedFieldsMode;
}

/** Returns the definition of the requested version; writes of this server are prepared and validated as the storage version. */
export function servedDefinitionOf(
  storageVersion: ResourceDefinition,
  { managedFields }: WriteContext,
): ResourceDefinition {
  return managedFields.mode === 'none' ? storageVersion : managedFields.definition;
}
