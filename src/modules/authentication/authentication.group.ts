import type { RequestAuthenticator } from '../../auth/request-authenticator.js';
import type { SelfSubjectReview, TokenReview } from '../../catalog/types/authentication.v1.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import { ApiError } from '../../machinery/api-error.js';
import { listed } from '../../machinery/listed.js';
import type { UserInfo } from '../../machinery/user-info.js';
import { ApiGroup, VirtualResource, type HandlerResult, type VirtualRequest } from '../../registry/apis/api-group.js';
import { objectTime } from '../../registry/write/system-fields.js';
import type { Clock } from '../../std/clock.js';

const authenticationVersion = (naming: NamingProfile) => ({
  group: naming.group('authentication'),
  version: 'v1',
});

/** Reviews of tokens and of the requesting user. Reviews are not stored. */
@ApiGroup((naming) => ({
  ...authenticationVersion(naming),
  groupPriority: 17700,
  virtual: [
    {
      ...authenticationVersion(naming),
      kind: 'SelfSubjectReview',
      plural: 'selfsubjectreviews',
      singular: 'selfsubjectreview',
      namespaced: false,
    },
    {
      ...authenticationVersion(naming),
      kind: 'TokenReview',
      plural: 'tokenreviews',
      singular: 'tokenreview',
      namespaced: false,
    },
  ],
}))
export class AuthenticationGroup {
  constructor(
    private readonly authenticator: Pick<RequestAuthenticator, 'review'>,
    private readonly clock: Clock,
  ) {}

  @VirtualResource('selfsubjectreviews')
  async reviewSelf({ context, body }: VirtualRequest): Promise<HandlerResult> {
    const { kind, apiVersion, metadata } = body;
    const object: SelfSubjectReview = {
      kind,
      apiVersion,
      metadata: { ...metadata, creationTimestamp: objectTime(this.clock.now()) },
      status: { userInfo: userFields(context.user) },
    };
    return { object };
  }

  @VirtualResource('tokenreviews')
  async reviewToken({ context, body }: VirtualRequest): Promise<HandlerResult> {
    const review: TokenReview = body;
    const { token = '', audiences = [] } = review.spec ?? {};
    if (token === '') throw ApiError.badRequest('token is required for TokenReview in authentication');
    const verdict = await this.authenticator.review(token, audiences, context);
    const status =
      'user' in verdict
        ? {
            authenticated: true,
            user: userFields(verdict.user),
            ...(verdict.audiences.length > 0 && { audiences: verdict.audiences }),
          }
        : { user: {}, error: listed(verdict.problems) };
    return { object: { ...body, status } };
  }
}

/** Returns the UserInfo of authentication.k8s.io, without empty fields. */
function userFields({ name, uid, groups, extra }: UserInfo) {
  return {
    username: name,
    ...(uid !== '' && { uid }),
    ...(groups.length > 0 && { groups }),
    ...(Object.keys(extra).length > 0 && { extra }),
  };
}
