import { All, Controller, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { json } from '../codec/encodings.js';
import { OutputNegotiator } from '../codec/negotiate.js';
import { headersFor, sendBytes } from '../answers/answer.js';
import { ApiError } from '../machinery/api-error.js';
import type { VersionDocument } from '../config/version-document.js';

export function versionController(document: VersionDocument) {
  const body = json.encode(document, { pretty: true });
  const negotiator = new OutputNegotiator({
    encodings: [json],
    metaGroup: '',
    allowsTransforms: false,
    canWatch: false,
  });

  @Controller()
  class VersionController {
    @All('version')
    handle(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
      if (request.raw.method !== 'GET') throw ApiError.methodNotAllowed();
      negotiator.negotiate(request.raw.headers.accept);
      sendBytes(request, reply, 200, headersFor(request, json.mediaType), body);
    }
  }
  return VersionController;
}
