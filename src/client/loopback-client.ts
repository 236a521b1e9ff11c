import type { AdmissionChain } from '../admission/admission-chain.js';
import { ApiError } from '../machinery/api-error.js';
import type { JsonObject, KubeObject } from '../machinery/kube-object.js';
import { plainDelete, type DeleteOptions } from '../machinery/delete-options.js';
import type { UserInfo } from '../machinery/user-info.js';
import { copyObject } from '../patch/copy-json.js';
import type { Deleted } from '../registry/write/delete.js';
import type { Preconditions } from '../registry/write/preconditions.js';
import type { RequestContext } from '../registry/request-context.js';
import type { ServedResource } from '../registry/resource-registry.js';
import { FieldReport } from '../registry/write/submission.js';
import { apply } from '../verbs/apply.js';
import { change } from '../verbs/change.js';
import { create } from '../verbs/create.js';
import { remove } from '../verbs/delete.js';
import type { Target } from '../verbs/verb.js';
import type { Cancellation } from '../std/cancellation.js';

interface LoopbackOptions {
  readonly admission: AdmissionChain;
  /** The user that admission sees, and the field manager in managedFields. */
  readonly user: UserInfo;
  readonly fieldManager: string;
}

/** Names one object of a resource. */
export interface ObjectRef {
  readonly served: ServedResource;
  readonly namespace: string;
  readonly name: string;
}

/**
 * Calls the verbs for components of this server, without a socket. Skips authentication and authorization; admission
 * runs as for other clients.
 */
export class LoopbackClient {
  constructor(private readonly options: LoopbackOptions) {}

  /** Reads the object from the store, bypassing the cache. */
  async live({ served, namespace, name }: ObjectRef, signal?: Cancellation): Promise<KubeObject | undefined> {
    const { encoded } = await served.store.storedCurrent(served.store.keyOf(namespace, name), { signal });
    return encoded?.parse();
  }

  /** Returns false if an object of the name already exists. */
  async create(served: ServedResource, object: KubeObject, signal?: Cancellation): Promise<boolean> {
    const { name = '', namespace = '' } = object.metadata;
    const submission = { value: copyObject(object), fields: new FieldReport('Ignore', []) };
    try {
      await create(this.options.admission, this.target({ served, namespace, name }, signal), submission);
      return true;
    } catch (error) {
      if (isReason(error, 'AlreadyExists')) return false;
      throw error;
    }
  }

  /** Returns the object after the change; undefined if it does not exist, or has another uid than the precondition. */
  async change(
    ref: ObjectRef,
    changed: (current: KubeObject) => KubeObject | Promise<KubeObject>,
    options: { subresource?: string; preconditions?: Preconditions; signal?: Cancellation } = {},
  ): Promise<KubeObject | undefined> {
    const { subresource = '', preconditions, signal } = options;
    try {
      const target = this.target(ref, signal);
      return (await change(this.options.admission, target, subresource, changed, preconditions)).object;
    } catch (error) {
      if (isReason(error, 'NotFound')) return undefined;
      throw error;
    }
  }

  /** Server-side apply to an object that exists, taking fields over from other managers. */
  async apply(
    ref: ObjectRef,
    config: JsonObject,
    options: { subresource?: string; signal?: Cancellation } = {},
  ): Promise<void> {
    const { subresource = '', signal } = options;
    const decode = () => ({ value: config, fields: new FieldReport('Ignore', []) });
    const noPermission = () => Promise.resolve();
    try {
      await apply(this.options.admission, this.target(ref, signal), subresource, { decode }, true, noPermission);
    } catch (error) {
      if (!isReason(error, 'NotFound')) throw error;
    }
  }

  /** Returns undefined if the object does not exist. */
  async delete(
    ref: ObjectRef,
    options: Partial<DeleteOptions> = {},
    signal?: Cancellation,
  ): Promise<Deleted | undefined> {
    try {
      return await remove(this.options.admission, this.target(stored(ref), signal), { ...plainDelete, ...options });
    } catch (error) {
      if (isReason(error, 'NotFound')) return undefined;
      throw error;
    }
  }

  private target(ref: ObjectRef, signal: Cancellation | undefined): Target {
    const context: RequestContext = {
      user: this.options.user,
      signal,
      warnings: [],
      dryRun: false,
      fieldManager: this.options.fieldManager,
      auditAnnotations: new Map<string, string>(),
    };
    return { ...ref, context };
  }
}

/** Returns the object in the storage version, so that a conversion webhook that is down does not keep it. */
function stored(ref: ObjectRef): ObjectRef {
  const { served } = ref;
  if (!served.definition.hub?.fromHubAhead) return ref;
  return { ...ref, served: { ...served, definition: served.store.definition } };
}

export function isReason(error: unknown, reason: ApiError['reason']): error is ApiError {
  return error instanceof ApiError && error.reason === reason;
}
