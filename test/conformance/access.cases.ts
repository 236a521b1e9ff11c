import { del, get, invalid, keep, created, names, ok, patch, post, put, refused, type Table } from './case.js';

const rbac = '/apis/{group:rbac.authorization}/v1';
const inNamespace = `${rbac}/namespaces/{ns}`;
const rule = { apiGroups: [''], resources: ['pods'], verbs: ['get'] };
const binding = (name: string, role = 'r') => ({
  metadata: { name },
  roleRef: { kind: 'Role', name: role },
  subjects: [{ kind: 'User', name: 'u' }],
});

// prettier-ignore
export const roles: Table = {
  name: 'roles',
  everywhere: true,
  rows: [
    ['role names may have almost any character', [], post(`${inNamespace}/roles`, { metadata: { name: 'system:A b' }, rules: [rule] }), created({ rules: [rule] })],
    ['role names must be path segments (422)', [], post(`${inNamespace}/roles`, { metadata: { name: 'a%b' } }), invalid('metadata.name')],
    ['rules without verbs are rejected (422)', [], post(`${inNamespace}/roles`, { metadata: { name: 'r' }, rules: [{ ...rule, verbs: [] }] }), invalid('rules[0].verbs')],
    ['PUT creates an absent role (201)', [], put(`${inNamespace}/roles/r`, { metadata: { name: 'r' }, rules: [rule] }), created({ rules: [rule] })],
    ['subjects and roleRef get their API group', [], post(`${inNamespace}/rolebindings`, binding('b')), created({ roleRef: { apiGroup: '{group:rbac.authorization}' }, subjects: [{ apiGroup: '{group:rbac.authorization}' }] })],
    ['roleRef is immutable (422)', [post(`${inNamespace}/rolebindings`, binding('b'))], patch(`${inNamespace}/rolebindings/b`, { roleRef: { name: 'other' } }), invalid('roleRef')],
    ['subjects are mutable', [post(`${inNamespace}/rolebindings`, binding('b'))], patch(`${inNamespace}/rolebindings/b`, { subjects: [{ kind: 'Group', name: 'g' }] }), ok({ subjects: [{ kind: 'Group', name: 'g' }] })],
    ['aggregationRule without selectors is rejected (422)', [], post(`${rbac}/clusterroles`, { metadata: { name: '{ns}' }, aggregationRule: {} }), invalid('aggregationRule.clusterRoleSelectors')],
    ['a ClusterRoleBinding of a Role is rejected (422)', [], post(`${rbac}/clusterrolebindings`, binding('{ns}')), invalid('roleRef.kind')],
  ],
};

const authentication = '/apis/{group:authentication}/v1';
const authorization = '/apis/{group:authorization}/v1';
const mayGetPods = { resourceAttributes: { verb: 'get', resource: 'pods', namespace: '{ns}' } };

// prettier-ignore
export const reviews: Table = {
  name: 'reviews',
  everywhere: true,
  rows: [
    ['SelfSubjectReview answers the groups of the user', [], post(`${authentication}/selfsubjectreviews`, {}), created({ status: { userInfo: { groups: expect.arrayContaining(['system:masters']) } } })],
    ['TokenReview of an unknown token answers "invalid bearer token"', [], post(`${authentication}/tokenreviews`, { spec: { token: 'x' } }), created({ spec: { token: 'x' }, status: { error: 'invalid bearer token' } })],
    ['TokenReview without a token is rejected (400)', [], post(`${authentication}/tokenreviews`, {}), refused(400, 'BadRequest', 'token is required for TokenReview in authentication')],
    ['TokenReview authenticates a service account token', [keep('sa', post('~/serviceaccounts', { metadata: { name: 'sa' } })), keep('t', post('~/serviceaccounts/sa/token', {}))], post(`${authentication}/tokenreviews`, { spec: { token: '{t.status.token}' } }), created({ status: { authenticated: true, user: { username: 'system:serviceaccount:{ns}:sa', uid: '{sa.metadata.uid}' } } })],
    ['TokenReview of a token for another audience is not authenticated', [post('~/serviceaccounts', { metadata: { name: 'sa' } }), keep('t', post('~/serviceaccounts/sa/token', { spec: { audiences: ['x'] } }))], post(`${authentication}/tokenreviews`, { spec: { token: '{t.status.token}' } }), created({ status: { error: expect.stringContaining('token audiences ["x"] is invalid') } })],
    ['TokenReview of a token of a deleted service account is not authenticated', [post('~/serviceaccounts', { metadata: { name: 'sa' } }), keep('t', post('~/serviceaccounts/sa/token', {})), del('~/serviceaccounts/sa')], post(`${authentication}/tokenreviews`, { spec: { token: '{t.status.token}' } }), created({ status: { error: '[invalid bearer token, service account token has been invalidated]' } })],
    ['SubjectAccessReview of a member of system:masters is allowed', [], post(`${authorization}/subjectaccessreviews`, { spec: { user: 'x', groups: ['system:masters'], ...mayGetPods } }), created({ status: { allowed: true } })],
    ['SubjectAccessReview of a user without rights is denied', [], post(`${authorization}/subjectaccessreviews`, { spec: { user: 'nobody', ...mayGetPods } }), created({ status: { allowed: false } })],
    ['SelfSubjectAccessReview is allowed', [], post(`${authorization}/selfsubjectaccessreviews`, { spec: mayGetPods }), created({ status: { allowed: true } })],
    ['SelfSubjectAccessReview without attributes is rejected (422)', [], post(`${authorization}/selfsubjectaccessreviews`, {}), invalid('spec.resourceAttributes')],
    ['LocalSubjectAccessReview answers for its namespace', [], post(`${authorization}/namespaces/{ns}/localsubjectaccessreviews`, { spec: { user: 'nobody', ...mayGetPods } }), created({ metadata: { namespace: '{ns}' }, status: { allowed: false } })],
    ['LocalSubjectAccessReview of another namespace is rejected (422)', [], post(`${authorization}/namespaces/{ns}/localsubjectaccessreviews`, { spec: { user: 'u', resourceAttributes: { verb: 'get', resource: 'pods', namespace: 'other' } } }), invalid('spec.resourceAttributes.namespace')],
    ['SelfSubjectRulesReview lists the rules of the user', [], post(`${authorization}/selfsubjectrulesreviews`, { spec: { namespace: '{ns}' } }), created({ status: { resourceRules: expect.arrayContaining([{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }]), incomplete: false } })],
    ['TokenReviews cannot be listed (405)', [], get(`${authentication}/tokenreviews`), refused(405, 'MethodNotAllowed')],
  ],
};

const events = '/apis/{group:events}/v1/namespaces/{ns}/events';
const event = (more: object = {}) => ({
  metadata: { name: 'e' },
  eventTime: '2026-01-01T00:00:00.000000Z',
  regarding: { kind: 'Pod', name: 'p', namespace: '{ns}' },
  reportingController: 'example.com/c',
  reportingInstance: 'i',
  action: 'Did',
  reason: 'Because',
  type: 'Normal',
  ...more,
});

// prettier-ignore
export const newEvents: Table = {
  name: 'events.k8s.io events',
  everywhere: true,
  rows: [
    ['an events.k8s.io Event is readable as a core Event', [post(events, event({ note: 'hello' }))], get('~/events/e'), ok({ apiVersion: 'v1', involvedObject: { name: 'p' }, message: 'hello', reportingComponent: 'example.com/c' })],
    ['an Event without action is rejected (422)', [], post(events, event({ action: undefined, reason: undefined })), invalid('action')],
    ['the reason of an Event is immutable (422)', [post(events, event())], patch(`${events}/e`, { reason: 'Other' }), invalid('reason')],
    ['an Event series can be patched', [post(events, event())], patch(`${events}/e`, { series: { count: 2, lastObservedTime: '2026-01-01T00:00:01.000000Z' } }), ok({ series: { count: 2 } })],
    ['events.k8s.io events are selected by regarding.name', [post(events, event())], get(`${events}?fieldSelector=regarding.name=p`), names('e')],
    ['events.k8s.io events are not selected by involvedObject.name (400)', [post(events, event())], get(`${events}?fieldSelector=involvedObject.name=p`), refused(400, 'BadRequest', 'field label not supported: involvedObject.name')],
  ],
};

const definitions = '/apis/{group:apiextensions}/v1/customresourcedefinitions';
const definition = (schema: object = { type: 'object' }, plural = 'mins') => ({
  metadata: { name: 'mins.{ns}.example.com' },
  spec: {
    group: '{ns}.example.com',
    scope: 'Namespaced',
    names: { plural, kind: 'Min' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
  },
});

// prettier-ignore
export const definingKinds: Table = {
  name: 'CustomResourceDefinitions',
  rows: [
    ['create sets singular, listKind and conversion strategy', [], post(definitions, definition()), created({ spec: { names: { singular: 'min', listKind: 'MinList' }, conversion: { strategy: 'None' } }, status: { storedVersions: ['v1'] } })],
    ['a name other than plural.group is rejected (422)', [], post(definitions, definition(undefined, 'others')), invalid('metadata.name')],
    ['a schema that is not structural is rejected (422)', [], post(definitions, definition({ type: 'object', properties: { spec: {} } })), invalid('spec.validation.openAPIV3Schema.properties[spec].type')],
    ['CRD update without resourceVersion is rejected (422)', [keep('d', post(definitions, definition()))], put(`${definitions}/mins.{ns}.example.com`, definition()), invalid('metadata.resourceVersion')],
    ['spec.names.plural is immutable (422)', [post(definitions, definition())], patch(`${definitions}/mins.{ns}.example.com`, { spec: { names: { plural: 'others' } } }), invalid('spec.names.plural')],
  ],
};

const admission = '/apis/{group:admissionregistration}/v1';
const webhook = {
  name: 'a.example.com',
  clientConfig: { url: 'https://127.0.0.1:1/x' },
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
  rules: [{ operations: ['CREATE'], apiGroups: ['none.example.com'], apiVersions: ['v1'], resources: ['nothings'] }],
};
const flow = '/apis/{group:flowcontrol.apiserver}/v1';

// prettier-ignore
export const rulesForRequests: Table = {
  name: 'admission and flow control configuration',
  rows: [
    ['webhooks get failurePolicy, matchPolicy and timeoutSeconds by default', [], post(`${admission}/validatingwebhookconfigurations?dryRun=All`, { metadata: { name: '{ns}' }, webhooks: [webhook] }), created({ webhooks: [{ failurePolicy: 'Fail', matchPolicy: 'Equivalent', timeoutSeconds: 10 }] })],
    ['a webhook with side effects is rejected (422)', [], post(`${admission}/mutatingwebhookconfigurations`, { metadata: { name: '{ns}' }, webhooks: [{ ...webhook, sideEffects: 'Some' }] }), invalid('webhooks[0].sideEffects')],
    ['a ValidatingAdmissionPolicy without matchConstraints is rejected (422)', [], post(`${admission}/validatingadmissionpolicies`, { metadata: { name: '{ns}' }, spec: { validations: [{ expression: 'true' }] } }), invalid('spec.matchConstraints')],
    ['a ValidatingAdmissionPolicyBinding without validationActions is rejected (422)', [], post(`${admission}/validatingadmissionpolicybindings`, { metadata: { name: '{ns}' }, spec: { policyName: 'p' } }), invalid('spec.validationActions')],
    ['the bootstrap FlowSchemas exist', [], get(`${flow}/flowschemas/exempt`), ok({ spec: { matchingPrecedence: 1, priorityLevelConfiguration: { name: 'exempt' } } })],
    ['the exempt FlowSchema is immutable (422)', [], patch(`${flow}/flowschemas/exempt?dryRun=All`, { spec: { matchingPrecedence: 2 } }), invalid('spec')],
    ['a PriorityLevelConfiguration gets nominalConcurrencyShares by default', [], post(`${flow}/prioritylevelconfigurations?dryRun=All`, { metadata: { name: '{ns}' }, spec: { type: 'Limited', limited: { limitResponse: { type: 'Reject' } } } }), created({ spec: { limited: { nominalConcurrencyShares: 30 } } })],
    ['every served version has an Available APIService', [], get('/apis/{group:apiregistration}/v1/apiservices/v1.apps'), ok({ spec: { group: 'apps', version: 'v1' }, status: { conditions: [{ type: 'Available', status: 'True' }] } })],
  ],
};
