import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ServiceAccountTokens } from '../auth/service-account-tokens.js';
import { jwkOf, type VerificationKey } from '../auth/token-keys.js';
import { encodeJson } from '../codec/json.js';
import { headersFor, sendBytes } from '../answers/answer.js';
import { ApiError } from '../machinery/api-error.js';

export const configurationPath = '/.well-known/openid-configuration';
export const keysPath = '/openid/v1/jwks';

interface Dependencies {
  readonly tokens: ServiceAccountTokens;
  /** --service-account-jwks-uri, the URL of the public keys; undefined for the one of this server. */
  readonly keysUri: string | undefined;
  /** Address of this server, for example `10.0.0.1:6443`. */
  readonly address: () => string;
}

/**
 * Answers the requests of OpenID Connect Discovery 1.0, with which others verify service account tokens: the provider
 * configuration and the public keys. Both are 404 if the issuer is not an https URL, since clients could not find them.
 */
export class OpenIdRequests {
  constructor(private readonly dependencies: Dependencies) {}

  get isServed(): boolean {
    return /^https:\/\/[^/?#][^?#]*$/.test(this.dependencies.tokens.issuer);
  }

  async answer(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    if (!this.isServed) throw ApiError.noSuchPage();
    if (request.raw.method !== 'GET') throw ApiError.methodNotAllowed();
    const isKeys = request.kube.info.path === keysPath;
    const mediaType = isKeys ? 'application/jwk-set+json' : 'application/json';
    checkAccepts(request.raw.headers.accept, mediaType);
    const { verifying, secondsFresh } = await this.dependencies.tokens.keys();
    const published = verifying.filter((key) => key.isPublished);
    const document = isKeys ? { keys: published.map(jwkOf) } : this.configuration(published);
    const headers = headersFor(request, mediaType);
    headers['cache-control'] = `public, max-age=${secondsFresh}`;
    sendBytes(request, reply, 200, headers, encodeJson(document));
  }

  private configuration(published: readonly VerificationKey[]) {
    const { tokens, keysUri, address } = this.dependencies;
    return {
      issuer: tokens.issuer,
      jwks_uri: keysUri ?? `https://${address()}${keysPath}`,
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: [...new Set(published.map(({ algorithm }) => algorithm))].sort(),
    };
  }
}

function checkAccepts(header: string | undefined, mediaType: string): void {
  const ranges = (header || '*/*').split(',').map((range) => range.split(';', 1)[0]!.trim().toLowerCase());
  if (ranges.some((range) => range === '*/*' || range === mediaType || range === 'application/*')) return;
  throw new ApiError({
    reason: 'NotAcceptable',
    message: `406: Not Acceptable\n\nAvailable representations: ${mediaType}`,
    details: {},
  });
}
