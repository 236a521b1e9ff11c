import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { json } from '../codec/encodings.js';
import type { Encoding } from '../codec/encoding.js';
import { wantsPretty } from '../codec/negotiate.js';
import { headersFor, sendBytes, sendNotModified } from '../answers/answer.js';
import { ApiError } from '../machinery/api-error.js';
import type { VisibleResources } from '../registry/visible-resources.js';
import {
  apiGroup,
  apiGroupDiscoveryList,
  apiGroupList,
  apiResourceList,
  apiVersions,
  groupsOf,
  merged,
  type DiscoveredVersion,
} from './discovery-documents.js';
import type { ForwardedRequests } from './forwarded-requests.js';
import { DiscoveryNegotiator, type DiscoveryChoice } from './discovery-negotiation.js';

interface DiscoveryDependencies {
  readonly registry: VisibleResources;
  readonly encodings: readonly Encoding[];
  /** `apidiscovery.k8s.io` */
  readonly discoveryGroup: string;
  /** Address for clients, for example `10.0.0.1:6443`. */
  readonly serverAddress: () => string;
  /** Paths that `/` lists besides those of the API: `/healthz`, `/metrics`, … */
  readonly otherPaths: () => readonly string[];
  /** Absent without aggregated servers, as is `forwarded`. */
  readonly remote?: RemoteDiscovery;
  readonly forwarded?: ForwardedRequests;
}

/** Versions of aggregated servers. */
interface RemoteDiscovery {
  /** Another text after each change. */
  generation(): string;
  versions(): readonly DiscoveredVersion[];
}

interface Document {
  readonly bytes: Buffer;
  readonly contentType: string;
  /** Set for aggregated documents, which clients cache and revalidate. */
  readonly etag: string | undefined;
}

/** Answers discovery requests and `/`. Documents are cached until the registry changes. */
export class DiscoveryRequests {
  private readonly roots: DiscoveryNegotiator;
  private readonly groups: DiscoveryNegotiator;
  private readonly versions: DiscoveryNegotiator;
  private documents = new Map<string, Document>();
  private generation = -1;
  private remoteGeneration = '';
  private listed: ReturnType<typeof merged> = [];

  constructor(private readonly dependencies: DiscoveryDependencies) {
    const { encodings, discoveryGroup: group } = dependencies;
    this.roots = new DiscoveryNegotiator(encodings, { group, hasAggregated: true, refusesUnknownFirst: false });
    this.groups = new DiscoveryNegotiator(encodings, { group, hasAggregated: false, refusesUnknownFirst: false });
    this.versions = new DiscoveryNegotiator(encodings, { group, hasAggregated: false, refusesUnknownFirst: true });
  }

  answer(request: FastifyRequest, reply: FastifyReply): void | Promise<void> {
    const { registry, remote } = this.dependencies;
    const remoteGeneration = remote?.generation() ?? '';
    if (registry.generation !== this.generation || remoteGeneration !== this.remoteGeneration) {
      this.documents = new Map();
      this.generation = registry.generation;
      this.remoteGeneration = remoteGeneration;
      this.listed = merged(registry.servedVersions(), remote?.versions() ?? []);
    }
    const [root = '', first, second, ...more] = segmentsOf(request.kube.info.path);
    if (more.length > 0 || first === '') throw ApiError.noSuchPage();
    if (root === '' && first === undefined) return this.index(request, reply);
    if (root === 'api' && second === undefined)
      return first === undefined ? this.core(request, reply) : this.version(request, reply, '', first);
    if (root !== 'apis') throw ApiError.noSuchPage();
    if (first === undefined) return this.groupList(request, reply);
    return second === undefined ? this.group(request, reply, first) : this.version(request, reply, first, second);
  }

  /** Lists the paths of the server, as indented JSON for any method and any Accept header, since people read it. */
  private index(request: FastifyRequest, reply: FastifyReply): void {
    const { otherPaths } = this.dependencies;
    const paths = new Set(['/api', '/apis', '/apis/', ...otherPaths()]);
    for (const { group, version } of this.listed) {
      if (group === '') paths.add(`/api/${version}`);
      else paths.add(`/apis/${group}`).add(`/apis/${group}/${version}`);
    }
    const body = json.encode({ paths: [...paths].sort() }, { pretty: true });
    sendBytes(request, reply, 200, headersFor(request, json.mediaType), body);
  }

  private core(request: FastifyRequest, reply: FastifyReply): void {
    requireGet(request);
    const address = this.dependencies.serverAddress();
    this.root(request, reply, `/api ${address}`, true, (groups) => apiVersions(groups[0], address));
  }

  private groupList(request: FastifyRequest, reply: FastifyReply): void {
    this.root(request, reply, '/apis', false, apiGroupList);
  }

  private root(
    request: FastifyRequest,
    reply: FastifyReply,
    key: string,
    isCore: boolean,
    plain: (groups: ReturnType<typeof groupsOf>) => object,
  ): void {
    const choice = this.roots.negotiate(request.raw.headers.accept);
    const served = () => groupsOf(this.listed.filter(({ group }) => (group === '') === isCore));
    this.send(request, reply, key, choice, () =>
      choice.isAggregated ? apiGroupDiscoveryList(served(), `${this.dependencies.discoveryGroup}/v2`) : plain(served()),
    );
  }

  private group(request: FastifyRequest, reply: FastifyReply, name: string): void {
    const versions = this.versionsOf(name);
    if (versions.length === 0) throw ApiError.noSuchPage();
    const choice = this.groups.negotiate(request.raw.headers.accept);
    this.send(request, reply, `/apis/${name}`, choice, () => apiGroup({ name, versions }));
  }

  private version(request: FastifyRequest, reply: FastifyReply, group: string, version: string): void | Promise<void> {
    const { registry, forwarded } = this.dependencies;
    const found = registry.findVersion(group, version);
    const remote = found ? undefined : forwarded?.find(group, version);
    if (remote) return forwarded!.forward(request, reply, remote);
    // As kube-apiserver: an unknown group is a plain 404, an unknown version of a known group a Status.
    if (!found)
      throw group !== '' && this.versionsOf(group).length === 0 ? ApiError.noSuchPage() : ApiError.noSuchResource();
    requireGet(request);
    const choice = this.versions.negotiate(request.raw.headers.accept);
    this.send(request, reply, `/apis/${group}/${version}`, choice, () => apiResourceList(found));
  }

  private versionsOf(group: string) {
    return group === '' ? [] : this.listed.filter((served) => served.group === group);
  }

  private send(
    request: FastifyRequest,
    reply: FastifyReply,
    path: string,
    choice: DiscoveryChoice,
    make: () => object,
  ): void {
    const { query } = request.kube.info;
    const pretty = choice.pretty || wantsPretty(query.first('pretty'), request.raw.headers['user-agent']);
    const key = `${path} ${choice.encoding.name} ${choice.isAggregated} ${pretty}`;
    let document = this.documents.get(key);
    if (!document) {
      document = this.encode(choice, pretty, make());
      this.documents.set(key, document);
    }
    const headers = headersFor(request, document.contentType);
    if (document.etag === undefined) return sendBytes(request, reply, 200, headers, document.bytes);
    headers['cache-control'] = 'public';
    headers['etag'] = document.etag;
    headers['vary'] = 'Accept';
    if (request.raw.headers['if-none-match'] !== document.etag)
      return sendBytes(request, reply, 200, headers, document.bytes);
    sendNotModified(request, reply, headers);
  }

  private encode({ encoding, isAggregated }: DiscoveryChoice, pretty: boolean, value: object): Document {
    // Some documents have no apiVersion, which encodings with a schema for each kind need.
    const bytes = encoding.encode(encoding.takesAnyKind ? value : { apiVersion: 'v1', ...value }, { pretty });
    if (!isAggregated) return { bytes, contentType: encoding.mediaType, etag: undefined };
    return {
      bytes,
      contentType: `${encoding.mediaType};g=${this.dependencies.discoveryGroup};v=v2;as=APIGroupDiscoveryList`,
      // A hash of the content, so that all replicas with the same resources return the same ETag.
      etag: `"${createHash('sha256').update(bytes).digest('hex').toUpperCase()}"`,
    };
  }
}

function requireGet(request: FastifyRequest): void {
  if (request.raw.method !== 'GET') throw ApiError.methodNotAllowed();
}

/** Splits a path into segments, without the empty ones before the first slash and after a trailing one. */
function segmentsOf(path: string): string[] {
  const segments = path.split('/').slice(1);
  if (segments.at(-1) === '') segments.pop();
  return segments;
}
