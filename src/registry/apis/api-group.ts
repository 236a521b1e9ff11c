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
}

/** The response of a handler. `code` defaults to 201 for `create` and 200 for other verbs. */
export interface HandlerResult {
  readonly object: KubeObject | undefined;
  readonly code?: number;
}

export type SubresourceHandler = (request: SubresourceRequest) => Promise<HandlerResult>;
/** Returns all objects of a resource that is not stored. The list is computed for every read. */
export type ComputeList = () => Promise<readonly KubeObject[]>;
export type VirtualHandler = (request: VirtualRequest) => Promise<HandlerResult>;

export interface ApiGroupMetadata extends ApiGroupOptions {
  readonly subresourceMethods: readonly { resource: string; subresource: string; method: string }[];
  readonly virtualMethods: readonly { resource: string; method: string }[];
  readonly computedMethods: readonly { resource: string; method: string }[];
  readonly reserveMethods: readonly { resource: string; method: string }[];
}

type Class = abstract new (...args: never[]) => object;

/** One version of an API group, or several. */
type Versions = ApiGroupOptions | readonly ApiGroupOptions[];

/** Depends on the naming profile, since names of built-in groups contain the configured domain. */
type OptionsFor = Versions | ((naming: NamingProfile) => Versions);

const groupOptions = new WeakMap<Class, OptionsFor>();
const subresourceMethods = new WeakMap<object, { resource: string; subresource: string; method: string }[]>();
const virtualMethods = new WeakMap<object, { resource: string; method: string }[]>();
const computedMethods = new WeakMap<object, { resource: string; method: string }[]>();
const reserveMethods = new WeakMap<object, { resource: string; method: string }[]>();

export function ApiGroup(options: OptionsFor) {
  return (target: Class): void => void groupOptions.set(target, options);
}

export function Subresource(resource: string, subresource: string) {
  return (prototype: object, method: string, _descriptor: TypedPropertyDescriptor<SubresourceHandler>): void => {
    const marked = subresourceMethods.get(prototype) ?? [];
    subresourceMethods.set(prototype, [...marked, { resource, subresource, method }]);
  };
}

export function VirtualResource(resource: string) {
  return (prototype: object, method: string, _descriptor: TypedPropertyDescriptor<VirtualHandler>): void => {
    const marked = virtualMethods.get(prototype) ?? [];
    virtualMethods.set(prototype, [...marked, { resource, method }]);
  };
}

/**
 * Marks the method that computes the objects of a resource that is not stored. Its definition allows only get and list.
 */
export function ComputedResource(resource: string) {
  return (prototype: object, method: string, _descriptor: TypedPropertyDescriptor<ComputeList>): void => {
    const marked = computedMethods.get(prototype) ?? [];
    computedMethods.set(prototype, [...marked, { resource, method }]);
  };
}

/**
 * Marks the method that reserves something outside of the object (an IP address, a port) for every write of the
 * resource.
 */
export function Reserves(resource: string) {
  return (prototype: object, method: string, _descriptor: TypedPropertyDescriptor<Reserve>): void => {
    const marked = reserveMethods.get(prototype) ?? [];
    reserveMethods.set(prototype, [...marked, { resource, method }]);
  };
}

/**
 * Returns the metadata that @ApiGroup and the method decorators recorded for the class of `instance`; empty for other
 * classes.
 */
export function apiGroupsOf(instance: object, naming: NamingProfile): ApiGroupMetadata[] {
  const prototype = Object.getPrototypeOf(instance) as { constructor: Class } | null;
  const options = prototype && groupOptions.get(prototype.constructor);
  if (!options) return [];
  const versions = typeof options === 'function' ? options(naming) : options;
  return (Array.isArray(versions) ? (versions as readonly ApiGroupOptions[]) : [versions as ApiGroupOptions]).map(
    (version) => ({
      ...version,
      subresourceMethods: subresourceMethods.get(prototype) ?? [],
      virtualMethods: virtualMethods.get(prototype) ?? [],
      computedMethods: computedMethods.get(prototype) ?? [],
      reserveMethods: reserveMethods.get(prototype) ?? [],
    }),
  );
}
