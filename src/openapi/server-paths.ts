import type { ApiPath, PathDependencies } from './paths.js';

/** Paths outside the API groups that have a document of their own. */
export type ServerPath = 'version' | '.well-known/openid-configuration' | 'openid/v1/jwks';

export const serverPaths: Readonly<Record<ServerPath, (dependencies: PathDependencies) => ApiPath>> = {
  version: ({ schemas }) =>
    served('/version/', {
      ...{ id: 'getCodeVersion', tag: 'version' },
      ...{ consumes: ['application/json'], produces: ['application/json'], answer: schemas.versionInfo() },
    }),
  '.well-known/openid-configuration': () =>
    served('/.well-known/openid-configuration/', {
      ...{ id: 'getServiceAccountIssuerOpenIDConfiguration', tag: 'WellKnown' },
      ...{ produces: ['application/json'], answer: { type: 'string' } },
    }),
  'openid/v1/jwks': () =>
    served('/openid/v1/jwks/', {
      ...{ id: 'getServiceAccountIssuerOpenIDKeyset', tag: 'openid' },
      ...{ produces: ['application/jwk-set+json'], answer: { type: 'string' } },
    }),
};

function served(
  path: string,
  operation: Pick<ApiPath['operations'][number], 'id' | 'tag' | 'consumes' | 'produces' | 'answer'>,
): ApiPath {
  return { path, operations: [{ method: 'get', parameters: [], codes: [200], ...operation }] };
}
