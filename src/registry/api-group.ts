import type { NamingProfile } from '../config/naming-profile.js';
import type { RequestContext } from './request-context.js';
import type { Reserve } from './reservation.js';
import type { ResourceDefinition, VirtualResourceDefinition } from './resource-definition.js';
import type { KubeObject } from '../machinery/kube-object.js';

/**
 * How an API group joins the server: a provider class in a Nest module, marked with @ApiGroup, whose marked methods
 * serve what is more than data.
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
  /** Groups with a higher one are listed first in discovery; among versions of a group, `versionPriority` decides. */
  readonly groupPriority?: number;
  readonly versionPriority?: number;
}

export interface SubresourceRequest {
  readonly context: RequestContext;
  readonly definition: ResourceDefinition;
  readonly namespace: string;
  readonly name: string;
  readonly verb: 'create' | 'get' | 'update' | 'patch' | 'delete';
  /** The decoded body, when there was one. */
  readonly body: KubeObject | undefined;
  readonly query: { first(name: string): string | undefined; all(name: string): string[] };
}

export interface VirtualRequest {
  readonly context: RequestContext;
  readonly definition: VirtualResourceDefinition;
  readonly namespace: string;
  readonly body: KubeObject;
}

/** An object to answer with, if any; 201 where it was created, 200 otherwise unless said here. */
export interface HandlerResult {
  readonly object: KubeObject | undefined;
  readonly code?: number;
}

export type SubresourceHandler = (request: SubresourceRequest) => Promise<HandlerResult>;
/** Every object of a resource that is stored nowhere: what is read was made up for the reader. */
export type MadeObjects = () => Promise<readonly KubeObject[]>;
export type VirtualHandler = (request: VirtualRequest) => Promise<HandlerResult>;

export interface ApiGroupMetadata extends ApiGroupOptions {
  readonly subresourceMethods: readonly { resource: string; subresource: string; method: string }[];
  readonly virtualMethods: readonly { resource: string; method: string }[];
  readonly madeMethods: readonly { resource: string; method: string }[];
  readonly reserveMethods: readonly { resource: string; method: string }[];
}

type Class = abstract new (...args: never[]) => object;

/** One version of a group, or several. */
type Versions = ApiGroupOptions | readonly ApiGroupOptions[];

/** Built-in groups carry the configured domain in their names, so their options are made for a naming profile. */
type OptionsFor = Versions | ((naming: NamingProfile) => Versions);

const groupOptions = new WeakMap<Class, OptionsFor>();
const subresourceMethods = new WeakMap<object, { resource: string; subresource: string; method: string }[]>();
const virtualMethods = new WeakMap<object, { resource: string; method: string }[]>();
const madeMethods = new WeakMap<object, { resource: string; method: string }[]>();
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

/** The definition names no verbs but get and list. */
export function MadeResource(resource: string) {
  return (prototype: object, method: string, _descriptor: TypedPropertyDescriptor<MadeObjects>): void => {
    const marked = madeMethods.get(prototype) ?? [];
    madeMethods.set(prototype, [...marked, { resource, method }]);
  };
}

/** Writes of the resource take something from outside of their objects. */
export function Reserves(resource: string) {
  return (prototype: object, method: string, _descriptor: TypedPropertyDescriptor<Reserve>): void => {
    const marked = reserveMethods.get(prototype) ?? [];
    reserveMethods.set(prototype, [...marked, { resource, method }]);
  };
}

/** What @ApiGroup and its method marks say about the class of an instance: nothing of any other class. */
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
      madeMethods: madeMethods.get(prototype) ?? [],
      reserveMethods: reserveMethods.get(prototype) ?? [],
    }),
  );
}
