import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { json, type Encoding } from '../codec/encodings.js';
import { wantsPretty } from '../codec/negotiate.js';
import { headersFor, sendBytes } from '../hooks/answer.js';
import { ApiError } from '../machinery/api-error.js';
import type { ResourceRegistry } from '../registry/resource-registry.js';
import {
  apiGroup,
  apiGroupDiscoveryList,
  apiGroupList,
  apiResourceList,
  apiVersions,
  groupsOf,
} from './discovery-documents.js';
import { DiscoveryNegotiator, type DiscoveryChoice } from './discovery-negotiation.js';

export interface DiscoveryParts {
  readonly registry: ResourceRegistry;
  readonly encodings: readonly Encoding[];
  /** `apidiscovery.k8s.io` */
  readonly discoveryGroup: string;
  /** `10.0.0.1:6443`: where clients reach this server. */
  readonly serverAddress: () => string;
  /** What `/` lists besides the API: `/healthz`, `/metrics`, … */
  readonly otherPaths: () => readonly string[];
}

interface Document {
  readonly bytes: Buffer;
  readonly contentType: string;
  /** Only of aggregated documents, which clients keep and ask for again. */
  readonly etag: string | undefined;
}

/** All paths above the resources, and `/`. Documents are made once for each change of what is served. */
export class DiscoveryRequests {
  private readonly roots: DiscoveryNegotiator;
  private readonly groups: DiscoveryNegotiator;
  private readonly versions: DiscoveryNegotiator;
  private documents = new Map<string, Document>();
  private generation = -1;

  constructor(private readonly parts: DiscoveryParts) {
    const { encodings, discoveryGroup: group } = parts;
    this.roots = new DiscoveryNegotiator(encodings, { group, hasAggregated: true, refusesUnknownFirst: false });
    this.groups = new DiscoveryNegotiator(encodings, { group, hasAggregated: false, refusesUnknownFirst: false });
    this.versions = new DiscoveryNegotiator(encodings, { group, hasAggregated: false, refusesUnknownFirst: true });
  }

  answer(request: FastifyRequest, reply: FastifyReply): void {
    const { registry } = this.parts;
    if (registry.generation !== this.generation) {
      this.documents = new Map();
      this.generation = registry.generation;
    }
    const [root = '', first, second, ...more] = segmentsOf(request.kube.info.path);
    if (more.length > 0) throw ApiError.noSuchPage();
    if (root === '' && first === undefined) return this.index(request, reply);
    if (root === 'api' && second === undefined)
      return first === undefined ? this.core(request, reply) : this.version(request, reply, '', first);
    if (root !== 'apis') throw ApiError.noSuchPage();
    if (first === undefined) return this.groupList(request, reply);
    return second === undefined ? this.group(request, reply, first) : this.version(request, reply, first, second);
  }

  /** The paths of the server, for people: any method, indented JSON whatever is accepted. */
  private index(request: FastifyRequest, reply: FastifyReply): void {
    const { registry, otherPaths } = this.parts;
    const paths = new Set(['/api', '/apis', '/apis/', ...otherPaths()]);
    for (const { group, version } of registry.servedVersions()) {
      if (group === '') paths.add(`/api/${version}`);
      else paths.add(`/apis/${group}`).add(`/apis/${group}/${version}`);
    }
    const body = json.encode({ paths: [...paths].sort() }, { pretty: true });
    sendBytes(request, reply, 200, headersFor(request, json.mediaType), body);
  }

  private core(request: FastifyRequest, reply: FastifyReply): void {
    requireGet(request);
    const address = this.parts.serverAddress();
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
    const served = () =>
      groupsOf(this.parts.registry.servedVersions().filter(({ group }) => (group === '') === isCore));
    this.send(request, reply, key, choice, () =>
      choice.isAggregated ? apiGroupDiscoveryList(served(), `${this.parts.discoveryGroup}/v2`) : plain(served()),
    );
  }

  private group(request: FastifyRequest, reply: FastifyReply, name: string): void {
    const versions = this.versionsOf(name);
    if (versions.length === 0) throw ApiError.noSuchPage();
    const choice = this.groups.negotiate(request.raw.headers.accept);
    this.send(request, reply, `/apis/${name}`, choice, () => apiGroup({ name, versions }));
  }

  private version(request: FastifyRequest, reply: FastifyReply, group: string, version: string): void {
    const { registry } = this.parts;
    const found = registry.findVersion(group, version);
    // A group that nobody has heard of is no part of the API.
    if (!found)
      throw group !== '' && this.versionsOf(group).length === 0 ? ApiError.noSuchPage() : ApiError.noSuchResource();
    requireGet(request);
    const choice = this.versions.negotiate(request.raw.headers.accept);
    this.send(request, reply, `/apis/${group}/${version}`, choice, () => apiResourceList(found));
  }

  private versionsOf(group: string) {
    return group === '' ? [] : this.parts.registry.servedVersions().filter((served) => served.group === group);
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
    delete headers['content-type'];
    reply.hijack();
    reply.raw.writeHead(304, headers as never);
    reply.raw.end();
  }

  private encode({ encoding, isAggregated }: DiscoveryChoice, pretty: boolean, value: object): Document {
    // Some documents leave out their version, which encodings that know kinds alone have to be told.
    const bytes = encoding.encode(encoding.takesAnyKind ? value : { apiVersion: 'v1', ...value }, { pretty });
    if (!isAggregated) return { bytes, contentType: encoding.mediaType, etag: undefined };
    return {
      bytes,
      contentType: `${encoding.mediaType};g=${this.parts.discoveryGroup};v=v2;as=APIGroupDiscoveryList`,
      // The same in every replica that serves the same.
      etag: `"${createHash('sha256').update(bytes).digest('hex').toUpperCase()}"`,
    };
  }
}

function requireGet(request: FastifyRequest): void {
  if (request.raw.method !== 'GET') throw ApiError.methodNotAllowed();
}

/** Without the empty one before the first slash, and the one after the last. */
function segmentsOf(path: string): string[] {
  const segments = path.split('/').slice(1);
  if (segments.at(-1) === '') segments.pop();
  return segments;
}
