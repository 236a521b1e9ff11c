import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { json, type Encoding } from '../codec/encodings.js';
import { parseAccept } from '../codec/media-type.js';
import { headersFor, sendBytes, type AnswerHeaders } from '../hooks/answer.js';
import { ApiError } from '../machinery/api-error.js';
import type { ResourceRegistry, ServedVersion } from '../registry/resource-registry.js';
import type { Clock } from '../std/clock.js';
import { openApiV2, openApiV3 } from './openapi-documents.js';
import { pathOfGroup, pathOfRoot, pathsOfVersion, type ApiPath, type OperationParts } from './openapi-operations.js';
import { OpenApiSchemas, type Dialect } from './openapi-schemas.js';

export interface OpenApiParts {
  readonly registry: ResourceRegistry;
  readonly encodings: readonly Encoding[];
  /** `k8s.io` */
  readonly apiDomain: string;
  readonly clock: Clock;
}

interface Document {
  readonly bytes: Buffer;
  /** Of the bytes: the same in every replica that serves the same. */
  readonly hash: string;
}

const yearMs = 365 * 24 * 3600 * 1000;
/** Smaller answers are one packet or two either way. */
const gzipBytesMin = 1400;

/**
 * /openapi/v2, all in one document, and /openapi/v3, one document a group and version (KEP-2896): clients read the
 * index, and keep what it leads to for as long as the hash in its URL stays the same. Documents are made when they are
 * first asked for; those of a version are made again only when that version is.
 */
export class OpenApiRequests {
  private readonly ofVersions = new WeakMap<ServedVersion, Document>();
  private readonly ofPaths = new Map<string, Document>();
  private index: Buffer | undefined;
  private whole: { readonly plain: Document; gzipped: Promise<Buffer> | undefined } | undefined;
  private generation = -1;

  constructor(private readonly parts: OpenApiParts) {}

  async answer(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    if (request.raw.method !== 'GET' && request.raw.method !== 'HEAD') throw ApiError.methodNotAllowed();
    const { registry } = this.parts;
    if (registry.generation !== this.generation) {
      this.generation = registry.generation;
      this.ofPaths.clear();
      this.index = undefined;
      this.whole = undefined;
    }
    const path = request.kube.info.path.replace(/\/$/, '').slice('/openapi/'.length);
    if (path === 'v2') return this.answerV2(request, reply);
    if (path === 'v3') return this.answerIndex(request, reply);
    const name = path.slice('v3/'.length);
    const make = this.documentsV3().get(name);
    if (!make) throw ApiError.noSuchPage();
    this.answerV3(request, reply, name, make);
  }

  private async answerV2(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const vary = 'Accept-Encoding, Accept';
    if (!acceptsJson(request)) return refuse(request, reply, vary);
    this.whole ??= { plain: this.makeV2(), gzipped: undefined };
    const { whole } = this;
    const headers: AnswerHeaders = { ...headersFor(request, json.mediaType), etag: quoted(whole.plain), vary };
    if (isKnown(request, whole.plain)) return notModified(request, reply, headers);
    if (whole.plain.bytes.length < gzipBytesMin || !acceptsGzip(request)) {
      return sendBytes(request, reply, 200, headers, whole.plain.bytes);
    }
    whole.gzipped ??= promisify(gzip)(whole.plain.bytes);
    sendBytes(request, reply, 200, { ...headers, 'content-encoding': 'gzip' }, await whole.gzipped);
  }

  private answerIndex(request: FastifyRequest, reply: FastifyReply): void {
    this.index ??= json.encode({
      paths: Object.fromEntries(
        [...this.documentsV3()].map(([name, make]) => [name, { serverRelativeURL: urlOf(name, make()) }]),
      ),
    });
    // It is JSON, and so it is read; the reference leaves the type to be guessed, and this is what it guesses.
    sendBytes(request, reply, 200, headersFor(request, 'text/plain; charset=utf-8'), this.index);
  }

  private answerV3(request: FastifyRequest, reply: FastifyReply, name: string, make: () => Document): void {
    if (!acceptsJson(request)) return refuse(request, reply, 'Accept');
    const document = make();
    const headers: AnswerHeaders = { ...headersFor(request, json.mediaType), etag: quoted(document), vary: 'Accept' };
    const hash = request.kube.info.query.first('hash') ?? '';
    if (hash !== '') {
      if (hash !== document.hash) {
        delete headers['content-type'];
        return sendBytes(request, reply, 301, { ...headers, location: urlOf(name, document) }, Buffer.alloc(0));
      }
      headers['cache-control'] = 'public, immutable';
      headers['expires'] = new Date(this.parts.clock.now() + yearMs).toUTCString();
    }
    if (isKnown(request, document)) return notModified(request, reply, headers);
    sendBytes(request, reply, 200, headers, document.bytes);
  }

  /** What there is, by name: `api`, `api/v1`, `apis`, `apis/apps`, `apis/apps/v1`. */
  private documentsV3(): Map<string, () => Document> {
    const makers: [string, () => Document][] = [];
    const add = (name: string, make: () => Document) => makers.push([name, make]);
    for (const root of ['api', 'apis'] as const) {
      add(root, () => this.pathDocument(root, (parts) => pathOfRoot(root, parts)));
    }
    for (const served of this.parts.registry.servedVersions()) {
      const { group, version } = served;
      if (group === '') add(`api/${version}`, () => this.versionDocument(served));
      else {
        add(`apis/${group}`, () => this.pathDocument(`apis/${group}`, (parts) => pathOfGroup(group, parts)));
        add(`apis/${group}/${version}`, () => this.versionDocument(served));
      }
    }
    return new Map(makers.sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  private versionDocument(served: ServedVersion): Document {
    let found = this.ofVersions.get(served);
    if (!found) {
      found = this.makeV3((parts) => pathsOfVersion(served, parts));
      this.ofVersions.set(served, found);
    }
    return found;
  }

  /** Of a path that says the same whatever is below it. */
  private pathDocument(name: string, make: (parts: OperationParts) => ApiPath): Document {
    let found = this.ofPaths.get(name);
    if (!found) {
      found = this.makeV3((parts) => [make(parts)]);
      this.ofPaths.set(name, found);
    }
    return found;
  }

  private makeV3(make: (parts: OperationParts) => ApiPath[]): Document {
    const parts = this.operationParts('v3');
    const paths = make(parts);
    return documentOf(openApiV3(paths, parts.schemas.all()));
  }

  private makeV2(): Document {
    const parts = this.operationParts('v2');
    const versions = this.parts.registry.servedVersions();
    const groups = new Set(versions.map(({ group }) => group).filter((group) => group !== ''));
    const paths = [
      pathOfRoot('api', parts),
      pathOfRoot('apis', parts),
      ...[...groups].map((group) => pathOfGroup(group, parts)),
      ...versions.flatMap((served) => pathsOfVersion(served, parts)),
    ].sort((a, b) => (a.path < b.path ? -1 : 1));
    return documentOf(openApiV2(paths, parts.schemas.all()));
  }

  private operationParts(dialect: Dialect): OperationParts & { schemas: OpenApiSchemas } {
    const { encodings, apiDomain } = this.parts;
    return { encodings, apiDomain, schemas: new OpenApiSchemas(dialect, apiDomain) };
  }
}

function documentOf(value: unknown): Document {
  const bytes = json.encode(value);
  return { bytes, hash: createHash('sha256').update(bytes).digest('hex').toUpperCase() };
}

function urlOf(name: string, { hash }: Document): string {
  return `/openapi/v3/${name}?hash=${hash}`;
}

function quoted({ hash }: Document): string {
  return `"${hash}"`;
}

function acceptsJson(request: FastifyRequest): boolean {
  const { accept } = request.raw.headers;
  if (accept === undefined || accept === '') return true;
  return parseAccept(accept).some(({ name }) => name === json.mediaType || name === 'application/*' || name === '*/*');
}

function acceptsGzip(request: FastifyRequest): boolean {
  return /(^|,)\s*gzip\s*(;\s*q=(?!0(\.0*)?\s*(,|$))|,|$)/i.test(String(request.raw.headers['accept-encoding'] ?? ''));
}

function isKnown(request: FastifyRequest, document: Document): boolean {
  const tags = request.raw.headers['if-none-match'];
  if (tags === undefined) return false;
  return tags.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === quoted(document));
}

function notModified(request: FastifyRequest, reply: FastifyReply, headers: AnswerHeaders): void {
  delete headers['content-type'];
  reply.hijack();
  request.kube.sentBytes = 0;
  reply.raw.writeHead(304, headers as never);
  reply.raw.end();
}

function refuse(request: FastifyRequest, reply: FastifyReply, vary: string): void {
  const headers: AnswerHeaders = { ...headersFor(request, json.mediaType), vary };
  delete headers['content-type'];
  sendBytes(request, reply, 406, headers, Buffer.alloc(0));
}
