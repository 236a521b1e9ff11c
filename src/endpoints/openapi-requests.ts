import type { FastifyReply, FastifyRequest } from 'fastify';
import { json } from '../codec/encodings.js';
import { prefersGzip } from '../codec/content-coding.js';
import { parseAccept } from '../codec/media-type.js';
import { headersFor, sendBytes, type AnswerHeaders } from '../hooks/answer.js';
import { OpenApiLibrary, type LibraryParts, type OpenApiDocument } from './openapi-library.js';

const yearMs = 365 * 24 * 3600 * 1000;
/** Smaller answers are one packet or two either way. */
const gzipBytesMin = 1400;
const nothing = Buffer.alloc(0);

type Form = 'json' | 'protobuf';
type Documents = ReturnType<OpenApiLibrary['v3']>;

/** Older clients write the version of the message behind an `@`, where media types may not have one. */
const protobufTypes = (version: 'v2' | 'v3') =>
  ['.', '@'].map((separator) => `application/com.github.proto-openapi.spec.${version}${separator}v1.0+protobuf`);
const formsOf = { v2: formsFor('v2'), v3: formsFor('v3') };

/** The form for each media type, and the media type of each form. */
function formsFor(version: 'v2' | 'v3') {
  const protobuf = protobufTypes(version);
  const byName = new Map<string, Form>([
    ...[json.mediaType, 'application/*', '*/*'].map((name) => [name, 'json'] as const),
    ...protobuf.map((name) => [name, 'protobuf'] as const),
  ]);
  return { byName, mediaTypes: { json: json.mediaType, protobuf: protobuf[0]! } };
}

/**
 * /openapi/v2, and /openapi/v3: clients read the index, and keep what it leads to for as long as the hash in its URL
 * stays the same. These paths know no methods: whatever is asked is read.
 */
export class OpenApiRequests {
  private readonly documents: OpenApiLibrary;
  private index: { readonly of: Documents; readonly bytes: Promise<Buffer> } | undefined;

  constructor(private readonly parts: LibraryParts) {
    this.documents = new OpenApiLibrary(parts);
  }

  async answer(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const path = request.kube.info.path.slice('/openapi/'.length);
    if (path === 'v2' || path === 'v2/') return this.answerV2(request, reply);
    if (path === 'v3') return this.answerIndex(request, reply);
    const name = path.slice('v3/'.length);
    const make = this.documents.v3().get(name);
    if (make) return this.answerV3(request, reply, name, make);
    sendBytes(request, reply, 404, bare(headersFor(request, json.mediaType)), nothing);
  }

  private async answerV2(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const vary = 'Accept-Encoding, Accept';
    const form = accepted(request, 'v2');
    if (!form) return refuse(request, reply, vary);
    const document = await this.documents.v2();
    const type = formsOf.v2.mediaTypes[form];
    const headers: AnswerHeaders = { ...headersFor(request, type), etag: quoted(document), vary };
    if (isKnown(request, document)) return notModified(request, reply, headers);
    if (form === 'protobuf') return sendBytes(request, reply, 200, headers, await document.protobuf());
    if (document.json.length < gzipBytesMin || !prefersGzip(request.raw.headers['accept-encoding'])) {
      return sendBytes(request, reply, 200, headers, document.json);
    }
    sendBytes(request, reply, 200, { ...headers, 'content-encoding': 'gzip' }, await document.gzipped());
  }

  private async answerIndex(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const documents = this.documents.v3();
    if (this.index?.of !== documents) this.index = { of: documents, bytes: makeIndex(documents) };
    const bytes = await this.index.bytes;
    // It is JSON, and so it is read; the reference leaves the type to be guessed, and this is what it guesses.
    sendBytes(request, reply, 200, headersFor(request, 'text/plain; charset=utf-8'), bytes);
  }

  private async answerV3(
    request: FastifyRequest,
    reply: FastifyReply,
    name: string,
    make: () => Promise<OpenApiDocument>,
  ): Promise<void> {
    const form = accepted(request, 'v3');
    if (!form) return refuse(request, reply, 'Accept');
    const document = await make();
    const type = formsOf.v3.mediaTypes[form];
    const headers: AnswerHeaders = { ...headersFor(request, type), etag: quoted(document), vary: 'Accept' };
    const hash = request.kube.info.query.first('hash') ?? '';
    if (hash !== '') {
      if (hash !== document.hash) {
        return sendBytes(request, reply, 301, { ...headers, location: urlOf(name, document) }, nothing);
      }
      headers['cache-control'] = 'public, immutable';
      headers['expires'] = new Date(this.parts.clock.now() + yearMs).toUTCString();
    }
    if (isKnown(request, document)) return notModified(request, reply, headers);
    sendBytes(request, reply, 200, headers, form === 'json' ? document.json : await document.protobuf());
  }
}

/** Hashes need all documents. */
async function makeIndex(documents: Documents): Promise<Buffer> {
  const paths: Record<string, { readonly serverRelativeURL: string }> = {};
  for (const [name, make] of documents) {
    paths[name] = { serverRelativeURL: urlOf(name, await make()) };
  }
  return json.encode({ paths });
}

function urlOf(name: string, { hash }: OpenApiDocument): string {
  return `/openapi/v3/${name}?hash=${hash}`;
}

function quoted({ hash }: OpenApiDocument): string {
  return `"${hash}"`;
}

function accepted(request: FastifyRequest, version: 'v2' | 'v3'): Form | undefined {
  const { accept } = request.raw.headers;
  if (accept === undefined || accept === '') return 'json';
  for (const { name } of parseAccept(accept)) {
    const form = formsOf[version].byName.get(name);
    if (form) return form;
  }
  return undefined;
}

function isKnown(request: FastifyRequest, document: OpenApiDocument): boolean {
  const tags = request.raw.headers['if-none-match'];
  if (tags === undefined) return false;
  return tags.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === quoted(document));
}

function notModified(request: FastifyRequest, reply: FastifyReply, headers: AnswerHeaders): void {
  reply.hijack();
  request.kube.sentBytes = 0;
  reply.raw.writeHead(304, bare(headers) as never);
  reply.raw.end();
}

function refuse(request: FastifyRequest, reply: FastifyReply, vary: string): void {
  sendBytes(request, reply, 406, { ...bare(headersFor(request, json.mediaType)), vary }, nothing);
}

/** Without a content type: there is no content. */
function bare({ 'content-type': _, ...headers }: AnswerHeaders): AnswerHeaders {
  return headers;
}
