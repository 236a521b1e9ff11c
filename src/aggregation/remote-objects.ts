import { decodeJsonInSteps, stringifyJson } from '../codec/json.js';
import { asFields, asItems, asText, type Fields } from '../machinery/fields.js';
import { qualifiedResource } from '../machinery/gvk.js';
import type { UserInfo } from '../machinery/user-info.js';
import type { Clock } from '../std/clock.js';
import { YieldTimer } from '../std/yield-timer.js';
import type { RemoteClient } from './remote-client.js';
import { readMetadata, type RemoteMetadata } from './remote-metadata.js';
import type { RemoteRef } from './remote-resources.js';

interface Dependencies {
  readonly client: RemoteClient;
  /** The user of all requests. */
  readonly user: UserInfo;
  readonly clock: Clock;
  /** `meta.k8s.io` */
  readonly metaGroup: string;
  /** Limit on one answer. */
  readonly bytesMax: number;
}

/** An answer with another code than 2xx. */
export class RemoteRefusal extends Error {
  override readonly name = 'RemoteRefusal';

  constructor(
    readonly code: number,
    message: string,
    /** The name of the object that does not exist, by a Status with the reason NotFound. */
    readonly missingName?: string,
  ) {
    super(message);
  }
}

/** Of texts of the other server in conditions. */
const messageLengthMax = 1_000;
const pageObjects = 500;
/** Pages of one list: with more, the server repeats itself. */
const pagesMax = 10_000;

/** Reads and deletes objects of aggregated servers, on behalf of a reconciler. */
export class RemoteObjects {
  constructor(private readonly dependencies: Dependencies) {}

  /** Returns the metadata of all objects in a namespace. Rejects with RemoteRefusal, and as RemoteClient.request(). */
  async list(ref: RemoteRef, namespace: string, signal: AbortSignal): Promise<RemoteMetadata[]> {
    const found: RemoteMetadata[] = [];
    let after = '';
    for (let pages = 0; pages < pagesMax; pages++) {
      const query = new URLSearchParams({ limit: String(pageObjects), ...(after !== '' && { continue: after }) });
      const path = `${collectionPath(ref, namespace)}?${query.toString()}`;
      const { metadata, items } = asFields(await this.send(ref, { method: 'GET', path }, signal));
      found.push(...asItems(items).flatMap((item) => readMetadata(item['metadata'])));
      after = asText(asFields(metadata)['continue']);
      if (after === '') return found;
    }
    throw new RemoteRefusal(500, `the list of ${nameOf(ref)} has more than ${pagesMax} pages`);
  }

  /**
   * Returns the metadata of an object; undefined if the server answers that it does not exist. An answer of 404 about
   * something else is a RemoteRefusal. Rejects as list().
   */
  async get(ref: RemoteRef, namespace: string, name: string, signal: AbortSignal): Promise<RemoteMetadata | undefined> {
    const path = `${collectionPath(ref, namespace)}/${encodeURIComponent(name)}`;
    try {
      const { metadata } = asFields(await this.send(ref, { method: 'GET', path, as: 'PartialObjectMetadata' }, signal));
      const [found] = readMetadata(metadata);
      if (found?.name !== name) throw new RemoteRefusal(500, `${path}: the answer is another object`);
      return found;
    } catch (error) {
      if (error instanceof RemoteRefusal && error.missingName === name) return undefined;
      throw error;
    }
  }

  /** Deletes all objects in a namespace, in the background. Rejects as list(). */
  async deleteCollection(ref: RemoteRef, namespace: string, signal: AbortSignal): Promise<void> {
    await this.send(ref, { method: 'DELETE', path: collectionPath(ref, namespace), body: inBackground }, signal);
  }

  /** Deletes an object in the background, if it exists. Rejects as list(). */
  async delete(ref: RemoteRef, namespace: string, name: string, signal: AbortSignal): Promise<void> {
    const path = `${collectionPath(ref, namespace)}/${encodeURIComponent(name)}`;
    try {
      await this.send(ref, { method: 'DELETE', path, body: inBackground }, signal);
    } catch (error) {
      if (!isUnsupported(error)) throw error;
    }
  }

  private async send(
    ref: RemoteRef,
    request: { readonly method: string; readonly path: string; readonly body?: object; readonly as?: string },
    signal: AbortSignal,
  ): Promise<unknown> {
    const { client, user, clock, metaGroup, bytesMax } = this.dependencies;
    const { method, path, as = 'PartialObjectMetadataList' } = request;
    const accept = `application/json;as=${as};g=${metaGroup};v=v1,application/json`;
    const body = request.body && stringifyJson(request.body);
    const sent = { method, path, body, user, accept, bytesMax };
    const answer = await client.request(ref.version, sent, signal);
    const isSuccess = answer.status >= 200 && answer.status < 300;
    try {
      const document = await new YieldTimer(clock).run(decodeJsonInSteps(answer.body.toString()));
      if (isSuccess) return document;
      throw refusal(answer.status, asFields(document));
    } catch (error) {
      if (error instanceof RemoteRefusal && error.message !== '') throw error;
      const reason = isSuccess ? 'the answer is not JSON' : `status ${answer.status}`;
      throw new RemoteRefusal(isSuccess ? 500 : answer.status, `${answer.url}: ${reason}`);
    }
  }
}

function refusal(code: number, { kind, message, reason, details }: Fields): RemoteRefusal {
  const isMissing = code === 404 && kind === 'Status' && reason === 'NotFound';
  const missingName = isMissing ? asText(asFields(details)['name']) : undefined;
  return new RemoteRefusal(code, asText(message).slice(0, messageLengthMax), missingName);
}

const inBackground = { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy: 'Background' };

/** True for the answer to a request that the server does not know: 404 or 405. */
export function isUnsupported(error: unknown): boolean {
  return error instanceof RemoteRefusal && (error.code === 404 || error.code === 405);
}

/** Returns `widgets.example.com`. */
export function nameOf({ version, resource }: RemoteRef): string {
  return qualifiedResource(version.group, resource.resource);
}

function collectionPath({ version, resource }: RemoteRef, namespace: string): string {
  const space = namespace === '' ? '' : `namespaces/${encodeURIComponent(namespace)}/`;
  return `/apis/${version.group}/${version.version}/${space}${encodeURIComponent(resource.resource)}`;
}
