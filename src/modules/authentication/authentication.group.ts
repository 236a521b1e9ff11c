import type { RequestAuthenticator } from '../../auth/request-authenticator.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import { ApiError } from '../../machinery/api-error.js';
import { asFields, asText, asTexts } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import type { UserInfo } from '../../machinery/user-info.js';
import { ApiGroup, VirtualResource, type HandlerResult, type VirtualRequest } from '../../registry/apis/api-group.js';
import { objectTime } from '../../registry/write/system-fields.js';
import type { Clock } from '../../std/clock.js';

const authenticationVersion = (naming: NamingProfile) => ({
  group: naming.group('authentication'),
  version: 'v1',
});

/** Who somebody is: the bearer of a token that was shown to the asker, or the asker. Nothing of it is stored. */
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
    const object: KubeObject = {
      kind,
      apiVersion,
      metadata: { ...metadata, creationTimestamp: objectTime(this.clock.now()) },
      status: { userInfo: userFields(context.user) },
    };
    return { object };
  }

  @VirtualResource('tokenreviews')
  async reviewToken({ body }: VirtualRequest): Promise<HandlerResult> {
    const spec = asFields(body['spec']);
    const token = asText(spec['token']);
    if (token === '') throw ApiError.badRequest('token is required for TokenReview in authentication');
    const verdict = await this.authenticator.review(token, asTexts(spec['audiences']));
    const status =
      'user' in verdict
        ? {
            authenticated: true,
            user: userFields(verdict.user),
            ...(verdict.audiences.length > 0 && { audiences: verdict.audiences }),
          }
        : { user: {}, error: joined(verdict.problems) };
    return { object: { ...body, status } };
  }
}

/** As the wire has them: what is empty is not said. */
function userFields({ name, uid, groups, extra }: UserInfo) {
  return {
    username: name,
    ...(uid !== '' && { uid }),
    ...(groups.length > 0 && { groups }),
    ...(Object.keys(extra).length > 0 && { extra }),
  };
}

function joined(problems: readonly string[]): string {
  return problems.length === 1 ? problems[0]! : `[${problems.join(', ')}]`;
}
