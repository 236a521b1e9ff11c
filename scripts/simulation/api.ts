import type { KubeObject } from '../../src/machinery/kube-object.js';
import type { Resource, Selection } from './selection.js';

/** A server as its clients see it. One implementation calls the verbs in this process, one uses HTTP. */
export interface Api {
  /** Name of the server in reports. */
  readonly name: string;
  createNamespace(name: string): Promise<KubeObject>;
  create(ref: CollectionRef, object: KubeObject, call?: Call): Promise<KubeObject>;
  update(ref: ObjectRef, object: KubeObject, call?: Call): Promise<KubeObject>;
  patch(ref: ObjectRef, type: 'json' | 'merge' | 'strategic', body: unknown, call?: Call): Promise<KubeObject>;
  /** Returns the object or the Status that the server answers with. */
  remove(ref: ObjectRef, options: object, call?: Call): Promise<KubeObject>;
  removeAll(selection: Selection, call?: Call): Promise<readonly KubeObject[]>;
  get(ref: ObjectRef, query: Query, call?: Call): Promise<KubeObject>;
  list(selection: Selection, query: Query, call?: Call): Promise<ListPage>;
  /** Resolves when the watch has started. */
  watch(selection: Selection, query: Query, listener: WatchListener, pace: Pace): Promise<WatchHandle>;
}

export type Query = Readonly<Record<string, string>>;

export interface CollectionRef {
  readonly resource: Resource;
  readonly namespace: string;
  readonly subresource?: string;
}
export interface ObjectRef extends CollectionRef {
  readonly name: string;
}

export interface Call {
  readonly signal?: AbortSignal;
  readonly dryRun?: boolean;
}

export interface ListPage {
  readonly revision: number;
  readonly items: readonly KubeObject[];
  readonly continueToken: string | undefined;
  readonly remaining: number | undefined;
}

export interface WatchListener {
  event(type: string, object: KubeObject): void;
  /** The watch has ended; not called after close(). */
  ended(): void;
}

/** Speed of a reader: it buffers this many events, and reads them after this time. */
export interface Pace {
  readonly eventsMax: number;
  readonly delayMs: number;
}

export interface WatchHandle {
  /** Makes the client read without delay from now on. */
  stopPacing(): void;
  close(): void;
}

/** The server refused the request, or (code 0) did not answer. */
export class ApiFailure extends Error {
  override readonly name = 'ApiFailure';
  constructor(
    readonly code: number,
    readonly reason: string,
    message: string,
    readonly continueToken?: string,
  ) {
    super(`${code} ${reason}: ${message}`);
  }

  /** True if the write may have taken effect all the same. */
  get leavesDoubt(): boolean {
    return this.code === 0 || this.code >= 500;
  }
}

export const keyOf = ({ resource, namespace, name }: ObjectRef) => `${resource}/${namespace}/${name}`;
