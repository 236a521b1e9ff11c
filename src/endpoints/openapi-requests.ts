import type { FastifyReply, FastifyRequest } from 'fastify';
import { json } from '../codec/encodings.js';
import { prefersGzip } from '../codec/content-coding.js';
import { parseAccept } from '../codec/media-type.js';
import { headersFor, sendBytes, sendNotModified, withoutContentType, type AnswerHeaders } from '../answers/answer.js';
import type { RemoteVersion } from '../aggregation/remote-version.js';
import { OpenApiLibrary, type LibraryDependencies, type OpenApiDocument } from '../openapi/library.js';
import type { ForwardedRequests } from './forwarded-requests.js';

const yearMs = 365 * 24 * 3600 * 1000;
/** Smaller responses are one or two packets with or without compression. */
const gzipBytesMin = 1400;
const nothing = Buffer.alloc(0);

type DocumentEncoding = 'json' | 'protobuf';
type Documents = ReturnType<OpenApiLibrary['v3']>;

/** Media types of the protobuf message. Older clients separate its version by `@`, which is invalid in media types. */
const protobufTypes = (version: 'v2' | 'v3') =>
  ['.', '@'].map((separator) => `application/com.github.proto-openapi.spec.${version}${separator}v1.0+protobuf`);
const encodings = { v2: encodingsOf('v2'), v3: encodingsOf('v3') };

/** Returns the encodings by media type of Accept, and the media type of each encoding. */
function encodingsOf(version: 'v2' | 'v3') {
  const protobuf = protobufTypes(version);
  const byName = new Map<string, DocumentEncoding>([
    ...[json.mediaType, 'application/*', '*/*'].map((name) => [name, 'json'] as const),
    ...protobuf.map((name) => [name, 'protobuf'] as const),
  ]);
  return { byName, mediaTypes: { json: json.mediaType, protobuf: protobuf[0]! } };
}

interface OpenApiDependencies extends LibraryDependencies {
  /** Documents of v3 that aggregated servers have; absent without such servers, as is `forwarded`. */
  readonly remoteV3?: () => readonly { readonly version: RemoteVersion; readonly hash: string }[];
  readonly forwarded?: ForwardedRequests;
}

/**
 * Answers /openapi/v2 and /openapi/v3. Clients read the index of v3 and cache its documents until the hash in their URL
 * changes. As in kube-apiserver, every method is treated as GET.
 */
export class OpenApiRequests {
  private readonly documents: OpenApiLibrary;
  private index: { readonly of: Documents; readonly remote: string; readonly bytes: Promise<Buffer> } | undefined;

  constructor(private readonly dependencies: OpenApiDependencies) {
    this.documents = new OpenApiLibrary(dependencies);
  }

  async answer(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const path = request.kube.info.path.slice('/openapi/'.length);
    if (path === 'v2' || path === 'v2/') return this.answerV2(request, reply);
    if (path === 'v3') return this.answerIndex(request, reply);
    const name = path.slice('v3/'.length);
    const document = this.documents.v3().get(name);
    if (document) return this.answerV3(request, reply, name, document);
    const remote = this.remoteOf(name);
    if (remote) return this.dependencies.forwarded!.forward(request, reply, remote);
    sendBytes(request, reply, 404, withoutContentType(headersFor(request, json.mediaType)), nothing);
  }

  private async answerV2(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const vary = 'Accept-Encoding, Accept';
    const encoding = accepted(request, 'v2');
    if (!encoding) return refuse(request, reply, vary);
    const document = await this.documents.v2();
    const type = encodings.v2.mediaTypes[encoding];
    const headers: AnswerHeaders = { ...headersFor(request, type), etag: quoted(document), vary };
    if (isKnown(request, document)) return sendNotModified(request, reply, headers);
    if (encoding === 'protobuf') return sendBytes(request, reply, 200, headers, await document.protobuf());
    if (document.json.length < gzipBytesMin || !prefersGzip(request.raw.headers['accept-encoding'])) {
      return sendBytes(request, reply, 200, headers, document.json);
    }
    sendBytes(request, reply, 200, { ...headers, 'content-encoding': 'gzip' }, await document.gzipped());
  }

  private async answerIndex(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const documents = this.documents.v3();
    const urls = (this.dependencies.remoteV3?.() ?? []).map(({ version, hash }) => {
      const name = `apis/${version.group}/${version.version}`;
      return [name, `/openapi/v3/${name}?hash=${hash}`] as const;
    });
    const remote = urls.join('\n');
    if (this.index?.of !== documents || this.index.remote !== remote) {
      this.index = { of: documents, remote, bytes: makeIndex(documents, urls) };
    }
    const bytes = await this.index.bytes;
    // JSON with the content type that kube-apiserver sends: it sets none, and Go detects text/plain.
    sendBytes(request, reply, 200, headersFor(request, 'text/plain; charset=utf-8'), bytes);
  }

  /** Returns the aggregated server of a document, of those that the index lists. */
  private remoteOf(name: string): RemoteVersion | undefined {
    const [root, group = '', version = '', more] = name.split('/');
    if (root !== 'apis' || more !== undefined) return undefined;
    return this.dependencies
      .remoteV3?.()
      .find((each) => each.version.group === group && each.version.version === version)?.version;
  }

  private async answerV3(
    request: FastifyRequest,
    reply: FastifyReply,
    name: string,
    computed: () => Promise<OpenApiDocument>,
  ): Promise<void> {
    const encoding = accepted(request, 'v3');
    if (!encoding) return refuse(request, reply, 'Accept');
    const document = await computed();
    const type = encodings.v3.mediaTypes[encoding];
    const headers: AnswerHeaders = { ...headersFor(request, type), etag: quoted(document), vary: 'Accept' };
    const hash = request.kube.info.query.first('hash') ?? '';
    if (hash !== '') {
      if (hash !== document.hash) {
        return sendBytes(request, reply, 301, { ...headers, location: urlOf(name, document) }, nothing);
      }
      headers['cache-control'] = 'public, immutable';
      headers['expires'] = new Date(this.dependencies.clock.now() + yearMs).toUTCString();
    }
    if (isKnown(request, document)) return sendNotModified(request, reply, headers);
    sendBytes(request, reply, 200, headers, encoding === 'json' ? document.json : await document.protobuf());
  }
}

/** Computes the index. Its URLs contain hashes, so all documents are computed. */
async function makeIndex(
  documents: Documents,
  remote: readonly (readonly [name: string, url: string])[],
): Promise<Buffer> {
  const paths: Record<string, { readonly serverRelativeURL: string }> = {};
  for (const [name, document] of documents) {
    paths[name] = { serverRelativeURL: urlOf(name, await document()) };
  }
  for (const [name, serverRelativeURL] of remote) paths[name] = { serverRelativeURL };
  return json.encode({ paths });
}

function urlOf(name: string, { hash }: OpenApiDocument): string {
  return `/openapi/v3/${name}?hash=${hash}`;
}

function quoted({ hash }: OpenApiDocument): string {
  return `"${hash}"`;
}

function accepted(request: FastifyRequest, version: 'v2' | 'v3'): DocumentEncoding | undefined {
  const { accept } = request.raw.headers;
  if (accept === undefined || accept === '') return 'json';
  for (const { name } of parseAccept(accept)) {
    const encoding = encodings[version].byName.get(name);
    if (encoding) return encoding;
  }
  return undefined;
}

function isKnown(request: FastifyRequest, document: OpenApiDocument): boolean {
  const tags = request.raw.headers['if-none-match'];
  if (tags === undefined) return false;
  return tags.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === quoted(document));
}

function refuse(request: FastifyRequest, reply: FastifyReply, vary: string): void {
  sendBytes(request, reply, 406, { ...withoutContentType(headersFor(request, json.mediaType)), vary }, nothing);
}
