import { authorize, rulesFor, type AuthorizationAttributes, type Authorizers } from '../../auth/authorizer.js';
import { explainAccess, explanationAnnotation } from '../../auth/explain-access.js';
import { stringifyJson } from '../../codec/json.js';
import type {
  SelfSubjectRulesReview,
  SubjectAccessReview,
  SubjectAccessReviewSpec,
} from '../../catalog/types/authorization.v1.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import { isTrueParameter } from '../../machinery/query.js';
import { ApiError } from '../../machinery/api-error.js';
import { boundedErrors } from '../../machinery/error-budget.js';
import type { FieldError } from '../../machinery/field-error.js';
import type { UserInfo } from '../../machinery/user-info.js';
import { ApiGroup, VirtualResource, type HandlerResult, type VirtualRequest } from '../../registry/apis/api-group.js';
import { validateAccessReview, validateBareMetadata, validateLocalReview } from './access-review.validation.js';
import { reviewedSelectors } from './reviewed-selectors.js';

const authorizationVersion = (naming: NamingProfile) => ({
  group: naming.group('authorization'),
  version: 'v1',
});

/** Access reviews: asks the authorizers that requests of the user would pass. */
@ApiGroup((naming) => ({
  ...authorizationVersion(naming),
  groupPriority: 17600,
  virtual: [
    review(naming, 'LocalSubjectAccessReview', true),
    review(naming, 'SelfSubjectAccessReview', false),
    { ...review(naming, 'SelfSubjectRulesReview', false), tracksFields: false },
    review(naming, 'SubjectAccessReview', false),
  ],
}))
export class AuthorizationGroup {
  constructor(private readonly authorizers: Authorizers) {}

  @VirtualResource('subjectaccessreviews')
  async reviewSubject({ definition, body, query }: VirtualRequest): Promise<HandlerResult> {
    refuse(definition.group, () => [
      ...validateAccessReview(body, { isSelfReview: false }),
      ...validateBareMetadata(body),
    ]);
    return this.decide(body, subjectOf(body), { isExplained: isTrueParameter(query.first('explain')) });
  }

  @VirtualResource('localsubjectaccessreviews')
  async reviewLocally({ definition, body }: VirtualRequest): Promise<HandlerResult> {
    refuse(definition.group, () => validateLocalReview(body));
    return this.decide(body, subjectOf(body));
  }

  @VirtualResource('selfsubjectaccessreviews')
  async reviewSelf({ context, definition, body }: VirtualRequest): Promise<HandlerResult> {
    refuse(definition.group, () => [
      ...validateAccessReview(body, { isSelfReview: true }),
      ...validateBareMetadata(body),
    ]);
    return this.decide(body, context.user);
  }

  @VirtualResource('selfsubjectrulesreviews')
  async listRules({ context, body }: VirtualRequest): Promise<HandlerResult> {
    const { spec = {} }: SelfSubjectRulesReview = body;
    const { namespace = '' } = spec;
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

  private async decide(
    review: SubjectAccessReview,
    user: UserInfo,
    { isExplained = false } = {},
  ): Promise<HandlerResult> {
    const { spec = {} } = review;
    const { problems, ...selectors } = reviewedSelectors(spec.resourceAttributes);
    const attributes = { ...attributesOf(spec, user), ...selectors };
    const { decision, reason, evaluationError, explanation } = isExplained
      ? await explainAccess(this.authorizers, attributes)
      : { ...(await authorize(this.authorizers, attributes)), explanation: undefined };
    const errors = evaluationError === undefined ? problems : [evaluationError, ...problems];
    const status = {
      allowed: decision === 'allow',
      ...(decision === 'deny' && { denied: true }),
      ...(reason !== '' && { reason }),
      ...(errors.length > 0 && { evaluationError: errors.join('; ') }),
    };
    if (!explanation) return { object: { ...review, status } };
    const annotations = { [explanationAnnotation]: stringifyJson(explanation) };
    return { object: { ...review, metadata: { ...review.metadata, annotations }, status } };
  }
}

function review(naming: NamingProfile, kind: string, namespaced: boolean) {
  const singular = kind.toLowerCase();
  return { ...authorizationVersion(naming), kind, singular, plural: `${singular}s`, namespaced, tracksFields: true };
}

function refuse(group: string, validate: () => readonly FieldError[]): void {
  const errors = boundedErrors(validate);
  if (errors.length > 0) throw ApiError.invalid({ group, kind: '' }, '', errors);
}

function subjectOf({ spec = {} }: SubjectAccessReview): UserInfo {
  const { user = '', uid = '', groups = [], extra = {} } = spec;
  return {
    name: user,
    uid,
    groups,
    extra: Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, values ?? []])),
  };
}

function attributesOf(spec: SubjectAccessReviewSpec, user: UserInfo): AuthorizationAttributes {
  const { resourceAttributes: resource, nonResourceAttributes: nonResource = {} } = spec;
  const { verb = '' } = resource ?? nonResource;
  const { path = '' } = nonResource;
  return {
    user,
    verb,
    isResourceRequest: resource !== undefined,
    group: resource?.group ?? '',
    version: resource?.version || '*',
    resource: resource?.resource ?? '',
    subresource: resource?.subresource ?? '',
    namespace: resource?.namespace ?? '',
    name: resource?.name ?? '',
    path,
  };
}
