import type { Runs } from '../config/runs.js';
import type { GroupResource } from '../machinery/gvk.js';
import type { KubeObject } from '../machinery/kube-object.js';
import type { Served } from '../registry/resource-registry.js';
import type { RequestContext } from '../registry/request-context.js';
import type { AdmissionOperation } from './admission-operation.js';
import type { PluginDependencies } from './plugin-dependencies.js';

/** A write as plug-ins see it. `object` is absent on DELETE, `old` on CREATE. Objects are in the storage version. */
export interface AdmissionAttributes {
  readonly operation: AdmissionOperation;
  readonly resource: GroupResource;
  readonly kind: string;
  /** The requested version of the resource, in which the client sees the objects; undefined in unit tests only. */
  readonly served: Served | undefined;
  readonly subresource: string;
  readonly namespaced: boolean;
  readonly namespace: string;
  readonly name: string;
  readonly object: KubeObject | undefined;
  readonly old: KubeObject | undefined;
  /** In `validate` of a write: the object in the form in which it will be stored, which `object` need not have. */
  readonly canonical: KubeObject | undefined;
  readonly request: RequestContext;
  /** The same object in every attempt of a write that is retried after a conflict; absent if there is only one attempt. */
  readonly write?: object;
}

/** An update that leaves the object as it is stored, as far as it is known without reading the object. */
export interface UnchangedUpdate extends Pick<
  AdmissionAttributes,
  'resource' | 'served' | 'subresource' | 'namespaced' | 'namespace' | 'request'
> {
  readonly operation: 'UPDATE';
}

/**
 * The two steps of a plug-in. `admit` may change the object in place; `validate` sees the object that will be stored.
 * Both refuse the request by throwing an ApiError. `admit` of all plug-ins runs before `validate` of any. A step may run
 * again on a newer state of the object, except for `validate` of a create.
 *
 * `admit` runs once more for the same attributes, with isReinvocation, if needsReinvocation of a plug-in returns true.
 *
 * Built-in plug-ins: the object of an update may share nested values with `old`, so `admit` replaces them and never
 * changes them. Plug-ins of embedding programs get copies, and may change the object at any depth.
 */
export interface AdmissionHooks {
  /**
   * The resources that the plug-in is about; absent: all. Its steps are not called for others, nor for their subresources.
   */
  readonly resources?: readonly GroupResource[];
  readonly admit?: (attributes: AdmissionAttributes, isReinvocation?: boolean) => void | Promise<void>;
  /**
   * True if `admit` has changed the object so that `admit` of all plug-ins must run again. Asked once, after all have run.
   */
  readonly needsReinvocation?: (attributes: AdmissionAttributes) => boolean;
  readonly validate?: (attributes: AdmissionAttributes) => void | Promise<void>;
  /**
   * False if both steps do nothing about an update that leaves the object as it is stored: they refuse nothing, change
   * nothing, add no warning or audit annotation and call nobody. Absent: the steps are always called.
   */
  readonly actsOnUnchanged?: (update: UnchangedUpdate) => boolean;
}

export interface AdmissionPlugin extends AdmissionHooks {
  readonly name: string;
  /** True for plug-ins of an embedding program. */
  readonly isOwn?: boolean;
}

/** Declares a plug-in: its name, when it runs, and how its hooks are created. */
export interface AdmissionPluginDefinition<Name extends string = string, When extends Runs = Runs> {
  /** The name in flags, in the admission configuration and in metrics. */
  readonly name: Name;
  readonly runs: When;
  /** Creates the hooks of an enabled plug-in; undefined if the configuration leaves it nothing to do. */
  make(dependencies: PluginDependencies): AdmissionHooks | undefined;
}

export function defineAdmissionPlugin<const Name extends string, const When extends Runs>(
  definition: AdmissionPluginDefinition<Name, When>,
): AdmissionPluginDefinition<Name, When> {
  return definition;
}
