import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Encoding } from '../codec/encoding.js';
import { parseAccept } from '../codec/media-type.js';
import { headersFor, sendBytes } from '../answers/answer.js';
import { ApiError } from '../machinery/api-error.js';
import type { ServerPage } from './server-pages.js';

interface ServerPageOffer {
  /** Pages by path. Undefined if the feature gate of a page is off. */
  readonly pages: Readonly<Record<string, ServerPage | undefined>>;
  /** API group of structured responses: `config.k8s.io`. */
  readonly group: string;
  readonly encodings: readonly Encoding[];
}

const textType = 'text/plain; charset=utf-8';
const structuredVersion = 'v1alpha1';

/** Answers /statusz and /flagz: as text, or as an object for `;as=Statusz;g=config.k8s.io;v=v1alpha1`. */
export class ServerPageRequests {
  constructor(private readonly offer: ServerPageOffer) {}

  answer(request: FastifyRequest, reply: FastifyReply): void {
    const page = this.offer.pages[request.kube.info.path.slice(1)];
    if (!page) throw ApiError.noSuchPage();
    if (request.raw.method !== 'GET') throw ApiError.methodNotAllowed();
    const encoding = this.choose(request.raw.headers.accept, page.kind);
    const type = encoding === 'text' ? textType : encoding.mediaType;
    const body = encoding === 'text' ? Buffer.from(page.text()) : encoding.encode(this.document(page));
    sendBytes(request, reply, 200, headersFor(request, type), body);
  }

  private document(page: ServerPage) {
    return {
      kind: page.kind,
      apiVersion: `${this.offer.group}/${structuredVersion}`,
      metadata: { name: 'kube-apiserver' },
      ...page.fields(),
    };
  }

  private choose(accept: string | undefined, kind: string): Encoding | 'text' {
    if (accept === undefined || accept === '') return 'text';
    const { group, encodings } = this.offer;
    for (const { name, parameters } of parseAccept(accept)) {
      const encoding = encodings.find(({ mediaType }) => mediaType === name);
      const isAsked =
        parameters.get('as') === kind && parameters.get('g') === group && parameters.get('v') === structuredVersion;
      if (encoding && isAsked) return encoding;
      if (name === 'text/plain' || name === 'text/*' || name === '*/*') return 'text';
    }
    const structured = encodings.map(({ mediaType }) => `${mediaType};g=${group};v=${structuredVersion};as=${kind}`);
    throw ApiError.notAcceptable(['text/plain', ...structured]);
  }
}
