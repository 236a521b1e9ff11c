import type { GroupVersionKind } from '../../machinery/gvk.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import type { LabelSelector } from '../../machinery/label-selector.js';
import type { ServedResource } from '../../registry/resource-registry.js';
import type { Cancellation } from '../../std/cancellation.js';

/** Receives the stored objects of a resource, and then each change. */
export interface PolicyListener {
  /** Called before the objects are known; resolves, or rejects, when they are. */
  loading(ready: Promise<void>): void;
  changed(name: string, object: KubeObject): void;
  deleted(name: string): void;
}

/** A kind that params of policies have. */
export interface ParamResource {
  readonly namespaced: boolean;
  /** Undefined if the objects are known; otherwise waits for them, and rejects if that takes too long. */
  load(signal: Cancellation | undefined): Promise<void> | undefined;
  /** Returns the cached object in the version of the kind. */
  get(namespace: string, name: string): KubeObject | undefined;
  /** Lists the cached objects of a namespace, or all of a cluster-scoped resource, ordered by name. */
  select(namespace: string, selector: LabelSelector): readonly KubeObject[];
}

/** The stored objects that policies consist of and refer to, and the versions of served resources. */
export interface PolicyObjects {
  /** Follows a resource, also if it is served only later. */
  follow(group: string, version: string, plural: string, listener: PolicyListener): void;
  /** Returns the resource in its other served versions and groups. */
  equivalentsOf(served: ServedResource): readonly ServedResource[];
  /** Undefined if the kind is not served. */
  paramsOf(kind: GroupVersionKind): ParamResource | undefined;
}
