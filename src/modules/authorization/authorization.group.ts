import { authorize, rulesFor, type AuthorizationAttributes, type Authorizer } from '../../auth/authorizer.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import { ApiError } from '../../machinery/api-error.js';
import { boundedErrors } from '../../machinery/error-budget.js';
import type { FieldError } from '../../machinery/field-error.js';
import { asFields, asText, asTexts, isSet } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import type { UserInfo } from '../../machinery/user-info.js';
import { ApiGroup, VirtualResource, type HandlerResult, type VirtualRequest } from '../../registry/apis/api-group.js';
import { validateAccessReview, validateBareMetadata, validateLocalReview } from './access-review.validation.js';
import { selectorProblems } from './selector-problems.js';

const authorizationVersion = (naming: NamingProfile) => ({
  group: naming.group('authorization'),
  version: 'v1',
});

/** What somebody may do, answered by the authorizers that the requests of that user would meet. */
@ApiGroup((naming) => ({
  ...authorizationVersion(naming),
  groupPriority: 17600,
  virtual: [
    review(naming, 'LocalSubjectAccessReview', true),
    review(naming, 'SelfSubjectAccessReview', false),
    review(naming, 'SelfSubjectRulesReview', false),
    review(naming, 'SubjectAccessReview', false),
  ],
}))
export class AuthorizationGroup {
  constructor(private readonly authorizers: readonly Authorizer[]) {}

  @VirtualResource('subjectaccessreviews')
  async reviewSubject({ definition, body }: VirtualRequest): Promise<HandlerResult> {
    refuse(definition.group, () => [
      ...validateAccessReview(body, { isAboutAsker: false }),
      ...validateBareMetadata(body),
    ]);
    return this.decide(body, subjectOf(body));
  }

  @VirtualResource('localsubjectaccessreviews')
  async reviewLocally({ definition, body }: VirtualRequest): Promise<HandlerResult> {
    refuse(definition.group, () => validateLocalReview(body));
    return this.decide(body, subjectOf(body));
  }

  @VirtualResource('selfsubjectaccessreviews')
  async reviewSelf({ context, definition, body }: VirtualRequest): Promise<HandlerResult> {
    refuse(definition.group, () => [
      ...validateAccessReview(body, { isAboutAsker: true }),
      ...validateBareMetadata(body),
    ]);
    return this.decide(body, context.user);
  }

  @VirtualResource('selfsubjectrulesreviews')
  async listRules({ context, body }: VirtualRequest): Promise<HandlerResult> {
    const namespace = asText(asFields(body['spec'])['namespace']);
    if (namespace === '') throw ApiError.badRequest('no namespace on request');
    const { resourceRules, nonResourceRules, problem } = await rulesFor(this.authorizers, context.user, namespace);
    const status = {
      resourceRules,
      nonResourceRules,
      incomplete: problem !== undefined,
      ...(problem !== undefined && { evaluationError: problem }),
    };
    return { object: { kind: body.kind, apiVersion: body.apiVersion, metadata: {}, spec: {}, status } };
  }

  private async decide(body: KubeObject, user: UserInfo): Promise<HandlerResult> {
    const { resourceAttributes } = asFields(body['spec']);
    const { decision, reason } = await authorize(this.authorizers, attributesOf(body, user));
    const problems = selectorProblems(resourceAttributes);
    const status = {
      allowed: decision === 'allow',
      ...(decision === 'deny' && { denied: true }),
      ...(reason !== '' && { reason }),
      ...(problems.length > 0 && { evaluationError: problems.length === 1 ? problems[0] : `[${problems.join(', ')}]` }),
    };
    return { object: { ...body, status } };
  }
}

function review(naming: NamingProfile, kind: string, namespaced: boolean) {
  const singular = kind.toLowerCase();
  return { ...authorizationVersion(naming), kind, singular, plural: `${singular}s`, namespaced };
}

function refuse(group: string, validate: () => readonly FieldError[]): void {
  const errors = boundedErrors(validate);
  if (errors.length > 0) throw ApiError.invalid({ group, kind: '' }, '', errors);
}

function subjectOf(body: KubeObject): UserInfo {
  const { user, uid, groups, extra } = asFields(body['spec']);
  return {
    name: asText(user),
    uid: asText(uid),
    groups: asTexts(groups),
    extra: Object.fromEntries(Object.entries(asFields(extra)).map(([key, values]) => [key, asTexts(values)])),
  };
}

function attributesOf(body: KubeObject, user: UserInfo): AuthorizationAttributes {
  const { resourceAttributes, nonResourceAttributes } = asFields(body['spec']);
  const isResourceRequest = isSet(resourceAttributes);
  const asked = asFields(isResourceRequest ? resourceAttributes : nonResourceAttributes);
  const text = (field: string) => asText(asked[field]);
  return {
    user,
    verb: text('verb'),
    isResourceRequest,
    group: text('group'),
    version: text('version') || '*',
    resource: text('resource'),
    subresource: text('subresource'),
    namespace: text('namespace'),
    name: text('name'),
    path: text('path'),
  };
}
