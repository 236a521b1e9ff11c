import type { AdmissionChain } from '../admission/admission-chain.js';
import { ApiError } from '../machinery/api-error.js';
import type { KubeObject } from '../machinery/kube-object.js';
import { plainDelete, type DeleteOptions } from '../machinery/list-options.js';
import type { UserInfo } from '../machinery/user-info.js';
import { copyObject } from '../patch/copy-json.js';
import type { Deleted } from '../registry/delete.js';
import type { Preconditions } from '../registry/preconditions.js';
import type { RequestContext } from '../registry/request-context.js';
import type { ServedResource } from '../registry/resource-registry.js';
import { FieldReport } from '../registry/submission.js';
import { change } from '../verbs/change.js';
import { create } from '../verbs/create.js';
import { remove } from '../verbs/delete.js';
import type { Target } from '../verbs/verb.js';

export interface LoopbackParts {
  readonly admission: AdmissionChain;
  /** In whose name it acts: admission sees it, and objects note its manager as the owner of what it writes. */
  readonly user: UserInfo;
  readonly fieldManager: string;
}

/** One object of a resource. */
export interface Place {
  readonly served: ServedResource;
  readonly namespace: string;
  readonly name: string;
}

/**
 * The verbs, for parts of this server: a request without a socket. It is neither authenticated nor authorized, and
 * passes everything else, admission included.
 */
export class LoopbackClient {
  constructor(private readonly parts: LoopbackParts) {}

  /** What the store holds now, whatever the cache has seen. */
  async live({ served, namespace, name }: Place, signal?: AbortSignal): Promise<KubeObject | undefined> {
    const { encoded } = await served.store.storedCurrent(served.store.keyOf(namespace, name), signal);
    return encoded?.parse();
  }

  /** False when an object of this name is there already. */
  async create(served: ServedResource, object: KubeObject, signal?: AbortSignal): Promise<boolean> {
    const { name = '', namespace = '' } = object.metadata;
    const submission = { value: copyObject(object), fields: new FieldReport('Ignore', []) };
    try {
      await create(this.parts.admission, this.target({ served, namespace, name }, signal), submission);
      return true;
    } catch (error) {
      if (isReason(error, 'AlreadyExists')) return false;
      throw error;
    }
  }

  /** The object as it is after the change; undefined when there is none (of the uid that is asked for). */
  async change(
    place: Place,
    changed: (current: KubeObject) => KubeObject | Promise<KubeObject>,
    options: { subresource?: string; preconditions?: Preconditions; signal?: AbortSignal } = {},
  ): Promise<KubeObject | undefined> {
    const { subresource = '', preconditions, signal } = options;
    try {
      const target = this.target(place, signal);
      return (await change(this.parts.admission, target, subresource, changed, preconditions)).object;
    } catch (error) {
      if (isReason(error, 'NotFound')) return undefined;
      throw error;
    }
  }

  /** Undefined when there is nothing to delete. */
  async delete(place: Place, options: Partial<DeleteOptions> = {}, signal?: AbortSignal): Promise<Deleted | undefined> {
    try {
      return await remove(this.parts.admission, this.target(place, signal), { ...plainDelete, ...options });
    } catch (error) {
      if (isReason(error, 'NotFound')) return undefined;
      throw error;
    }
  }

  private target(place: Place, signal: AbortSignal | undefined): Target {
    const context: RequestContext = {
      user: this.parts.user,
      signal,
      warnings: [],
      dryRun: false,
      fieldManager: this.parts.fieldManager,
      auditAnnotations: new Map<string, string>(),
    };
    return { ...place, context };
  }
}

export function isReason(error: unknown, reason: ApiError['reason']): error is ApiError {
  return error instanceof ApiError && error.reason === reason;
}
