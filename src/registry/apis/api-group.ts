import type { ForwardPlan } from '../../forwarding/forward-plan.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import type { RequestContext } from '../request-context.js';
import type { Reserve } from '../write/reservation.js';
import type { ResourceDefinition, VirtualResourceDefinition } from '../definition/resource-definition.js';
import type { KubeObject } from '../../machinery/kube-object.js';

/**
 * Marks a provider class of a Nest module that serves one or more versions of an API group. Its marked methods
 * implement subresources, virtual resources and computed resources.
 *
 *   @ApiGroup({ group: 'shop.example.com', version: 'v1', resources: [widgets], virtual: [quotes] })   // or a list of versions
 *   class ShopGroup {
 *     @Subresource('widgets', 'polish') polish(request: SubresourceRequest) { … }
 *     @VirtualResource('quotes') quote(request: VirtualRequest) { … }
 *     @Reserves('widgets') takeNumber(next, old, request) { … }
 *   }
 */
export interface ApiGroupOptions {
  readonly group: string;
  readonly version: string;
  readonly resources?: readonly ResourceDefinition[];
  readonly virtual?: readonly VirtualResourceDefinition[];
  /** Groups with a higher priority come first in discovery. Versions of a group are ordered by `versionPriority`. */
  readonly groupPriority?: number;
  readonly versionPriority?: number;
  /** True for an alpha or beta version that is served without --runtime-config. */
  readonly isOnByDefault?: boolean;
}

export interface SubresourceRequest {
  readonly context: RequestContext;
  readonly definition: ResourceDefinition;
  readonly namespace: string;
  readonly name: string;
  readonly verb: 'create' | 'get' | 'update' | 'patch' | 'delete';
  /** The decoded request body, if the request has one. */
  readonly body: KubeObject | undefined;
  readonly query: { first(name: string): string | undefined; all(name: string): string[] };
}

export interface VirtualRequest {
  readonly context: RequestContext;
  readonly definition: VirtualResourceDefinition;
  readonly namespace: string;
  readonly body: KubeObject;
  readonly query: Pick<SubresourceRequest['query'], 'first'>;
}

/** The response of a handler. `code` defaults to 201 for `create` and 200 for other verbs. */
export interface HandlerResult {
  readonly object: KubeObject | undefined;
  readonly code?: number;
  /** The server that answers instead. */
  readonly forward?: ForwardPlan;
}

export type SubresourceHandler = (request: SubresourceRequest) => Promise<HandlerResult>;
/** Returns all objects of a resource that is not stored. The list is computed for every read. */
export type ComputeList = () => Promise<readonly KubeObject[]>;
export type VirtualHandler = (request: VirtualRequest) => Promise<HandlerResult>;

type MarkedAs = 'subresource' | 'virtual' | 'computed' | 'reserves';

/** A method of an API group's class that a decorator has marked. */
interface MarkedMethod {
  readonly as: MarkedAs;
  readonly resource: string;
  readonly method: string;
  /** Set if the method implements a subresource. */
  readonly subresource?: string;
}

export interface ApiGroupMetadata extends ApiGroupOptions {
  readonly methods: readonly MarkedMethod[];
}

type Class = abstract new (...args: never[]) => object;

/** One version of an API group, or several. */
type Versions = ApiGroupOptions | readonly ApiGroupOptions[];

/** Depends on the naming profile, since names of built-in groups contain the configured domain. */
type OptionsFor = Versions | ((naming: NamingProfile) => Versions);

const groupOptions = new WeakMap<Class, OptionsFor>();
const markedMethods = new WeakMap<object, readonly MarkedMethod[]>();

export function ApiGroup(options: OptionsFor) {
  return (target: Class): void => void groupOptions.set(target, options);
}

/** Returns a decorator that marks methods of the type `Method`. */
function marking<Method>(mark: Omit<MarkedMethod, 'method'>) {
  return (prototype: object, method: string, _descriptor: TypedPropertyDescriptor<Method>): void => {
    markedMethods.set(prototype, [...(markedMethods.get(prototype) ?? []), { ...mark, method }]);
  };
}

/** Marks the method that implements a subresource. */
export const Subresource = (resource: string, subresource: string) =>
  marking<SubresourceHandler>({ as: 'subresource', resource, subresource });

/** Marks the method that implements create of a resource that is not stored. */
export const VirtualResource = (resource: string) => marking<VirtualHandler>({ as: 'virtual', resource });

/** Marks the method that computes the objects of a resource that is not stored. Its definition allows only get and list. */
export const ComputedResource = (resource: string) => marking<ComputeList>({ as: 'computed', resource });

/**
 * Marks the method that reserves something outside of the object (an IP address, a port) for every write of the
 * resource.
 */
export const Reserves = (resource: string) => marking<Reserve>({ as: 'reserves', resource });

/** Definitions are data: servers with the same names of groups share them. */
const namedVersions = new WeakMap<NamingProfile, WeakMap<OptionsFor, readonly ApiGroupOptions[]>>();

function versionsOf(options: OptionsFor, naming: NamingProfile): readonly ApiGroupOptions[] {
  let ofNaming = namedVersions.get(naming);
  if (!ofNaming) namedVersions.set(naming, (ofNaming = new WeakMap<OptionsFor, readonly ApiGroupOptions[]>()));
  let versions = ofNaming.get(options);
  if (!versions) {
    const declared = typeof options === 'function' ? options(naming) : options;
    versions = Array.isArray(declared) ? (declared as readonly ApiGroupOptions[]) : [declared as ApiGroupOptions];
    ofNaming.set(options, versions);
  }
  return versions;
}

/**
 * Returns the metadata that @ApiGroup and the method decorators recorded for the class of `instance`; empty for other
 * classes.
 */
export function apiGroupsOf(instance: object, naming: NamingProfile): ApiGroupMetadata[] {
  const prototype = Object.getPrototypeOf(instance) as { constructor: Class } | null;
  const options = prototype && groupOptions.get(prototype.constructor);
  if (!options) return [];
  return versionsOf(options, naming).map((version) => ({
    ...version,
    methods: markedMethods.get(prototype) ?? [],
  }));
}
