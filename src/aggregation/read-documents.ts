import { createHash } from 'node:crypto';
import { decodeJson, decodeJsonInSteps } from '../codec/json.js';
import { asFields, asText } from '../machinery/fields.js';
import type { Clock } from '../std/clock.js';
import { YieldTimer } from '../std/yield-timer.js';
import type { RemoteClient } from './remote-client.js';
import { resourcesInGroups, resourcesInList, type RemoteResource } from './remote-discovery.js';
import type { RemoteSwagger } from './remote-documents.js';
import { swaggerOf } from './remote-swagger.js';
import type { RemoteVersion } from './remote-version.js';

interface Dependencies {
  readonly client: RemoteClient;
  readonly clock: Clock;
  /** `apidiscovery.k8s.io` */
  readonly discoveryGroup: string;
  readonly limits: { readonly aggregatedDiscoveryBytesMax: number; readonly aggregatedOpenApiBytesMax: number };
}

/** A document with the content that it was read from, so that the same content need not be read again. */
export interface ReadDocument<T> {
  readonly etag: string | undefined;
  readonly digest: string;
  readonly value: T;
}

const unavailableCode = 503;

/** Reads discovery and OpenAPI of aggregated servers. Their answers are bounded, and nothing in them is trusted. */
export class DocumentReader {
  constructor(private readonly dependencies: Dependencies) {}

  /** Reads the resources of a version: from the aggregated document if the server has one. Rejects if it has neither. */
  async discovery(
    version: RemoteVersion,
    before: ReadDocument<readonly RemoteResource[]> | undefined,
    signal: AbortSignal,
  ): Promise<ReadDocument<readonly RemoteResource[]>> {
    const { client, discoveryGroup, limits } = this.dependencies;
    const bytesMax = limits.aggregatedDiscoveryBytesMax;
    const as = 'as=APIGroupDiscoveryList';
    const accept = ['v2', 'v2beta1'].map((each) => `application/json;g=${discoveryGroup};v=${each};${as}`).join(',');
    const answer = await client.get(version, { path: '/apis', accept, etag: before?.etag, bytesMax }, signal);
    if (answer.status === 304 && before) return before;
    if (answer.status === unavailableCode) throw new Error(`${answer.url}: status ${answer.status}`);
    if (answer.status === 200 && (answer.headers['content-type'] ?? '').replaceAll(' ', '').includes(as)) {
      return keptIfSame(before, answer, () => {
        const { group } = version;
        return resourcesInGroups(decodeJson(answer.body), group, version.version) ?? [];
      });
    }
    const path = `/apis/${version.group}/${version.version}`;
    const legacy = await client.get(version, { path, accept: 'application/json', bytesMax }, signal);
    if (legacy.status !== 200) throw new Error(`${legacy.url}: status ${legacy.status}`);
    return keptIfSame(before, { body: legacy.body, headers: {} }, () => resourcesInList(decodeJson(legacy.body)));
  }

  /** Returns the hash of the OpenAPI v3 document of a version; undefined if the server has none. */
  async openApiV3Hash(version: RemoteVersion, signal: AbortSignal): Promise<string | undefined> {
    const { client, limits } = this.dependencies;
    const bytesMax = limits.aggregatedDiscoveryBytesMax;
    const answer = await client.get(version, { path: '/openapi/v3', accept: 'application/json', bytesMax }, signal);
    if (answer.status === 404) return undefined;
    if (answer.status !== 200) throw new Error(`${answer.url}: status ${answer.status}`);
    const paths = asFields(asFields(decodeJson(answer.body))['paths']);
    const name = `apis/${version.group}/${version.version}`;
    if (!Object.hasOwn(paths, name)) return undefined;
    const url = asText(asFields(paths[name])['serverRelativeURL']);
    const given = new URLSearchParams(url.slice(url.indexOf('?') + 1)).get('hash') ?? '';
    // Clients cache documents by this text; that of another form is replaced.
    return /^[\w.-]{1,128}$/.test(given) ? given : createHash('sha256').update(url).digest('hex').toUpperCase();
  }

  /** Reads the OpenAPI v2 document of a server. */
  async openApiV2(
    version: RemoteVersion,
    before: ReadDocument<RemoteSwagger | undefined> | undefined,
    signal: AbortSignal,
  ): Promise<ReadDocument<RemoteSwagger | undefined>> {
    const { client, clock, limits } = this.dependencies;
    const bytesMax = limits.aggregatedOpenApiBytesMax;
    const request = { path: '/openapi/v2', accept: 'application/json', etag: before?.etag, bytesMax };
    const answer = await client.get(version, request, signal);
    if (answer.status === 304 && before) return before;
    if (answer.status === 404) return { etag: undefined, digest: '', value: undefined };
    if (answer.status !== 200) throw new Error(`${answer.url}: status ${answer.status}`);
    const digest = digestOf(answer.body);
    const etag = answer.headers.etag;
    if (before?.digest === digest) return { ...before, etag };
    const timer = new YieldTimer(clock);
    const document = await timer.run(decodeJsonInSteps(answer.body.toString()));
    return { etag, digest, value: await timer.run(swaggerOf(document, `/apis/${version.group}/${version.version}/`)) };
  }
}

function keptIfSame<T>(
  before: ReadDocument<T> | undefined,
  { body, headers }: { readonly body: Buffer; readonly headers: { readonly etag?: string | undefined } },
  read: () => T,
): ReadDocument<T> {
  const digest = digestOf(body);
  return { etag: headers.etag, digest, value: before?.digest === digest ? before.value : read() };
}

function digestOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('base64');
}
