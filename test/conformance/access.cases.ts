import { del, get, invalid, keep, made, names, ok, patch, post, put, refused, type Table } from './case.js';

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
    ['may be called nearly anything', [], post(`${inNamespace}/roles`, { metadata: { name: 'system:A b' }, rules: [rule] }), made({ rules: [rule] })],
    ['but not a path', [], post(`${inNamespace}/roles`, { metadata: { name: 'a%b' } }), invalid('metadata.name')],
    ['need verbs', [], post(`${inNamespace}/roles`, { metadata: { name: 'r' }, rules: [{ ...rule, verbs: [] }] }), invalid('rules[0].verbs')],
    ['are made by PUT', [], put(`${inNamespace}/roles/r`, { metadata: { name: 'r' }, rules: [rule] }), made({ rules: [rule] })],
    ['know the group of their subjects', [], post(`${inNamespace}/rolebindings`, binding('b')), made({ roleRef: { apiGroup: '{group:rbac.authorization}' }, subjects: [{ apiGroup: '{group:rbac.authorization}' }] })],
    ['are bound once and for all', [post(`${inNamespace}/rolebindings`, binding('b'))], patch(`${inNamespace}/rolebindings/b`, { roleRef: { name: 'other' } }), invalid('roleRef')],
    ['are bound to others', [post(`${inNamespace}/rolebindings`, binding('b'))], patch(`${inNamespace}/rolebindings/b`, { subjects: [{ kind: 'Group', name: 'g' }] }), ok({ subjects: [{ kind: 'Group', name: 'g' }] })],
    ['of the cluster aggregate by selectors', [], post(`${rbac}/clusterroles`, { metadata: { name: '{ns}' }, aggregationRule: {} }), invalid('aggregationRule.clusterRoleSelectors')],
    ['of the cluster are bound in the cluster', [], post(`${rbac}/clusterrolebindings`, binding('{ns}')), invalid('roleRef.kind')],
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
    ['of oneself', [], post(`${authentication}/selfsubjectreviews`, {}), made({ status: { userInfo: { groups: expect.arrayContaining(['system:masters']) } } })],
    ['of a token that nobody knows', [], post(`${authentication}/tokenreviews`, { spec: { token: 'x' } }), made({ spec: { token: 'x' }, status: { error: 'invalid bearer token' } })],
    ['of no token', [], post(`${authentication}/tokenreviews`, {}), refused(400, 'BadRequest', 'token is required for TokenReview in authentication')],
    ['of a token for an account', [keep('sa', post('~/serviceaccounts', { metadata: { name: 'sa' } })), keep('t', post('~/serviceaccounts/sa/token', {}))], post(`${authentication}/tokenreviews`, { spec: { token: '{t.status.token}' } }), made({ status: { authenticated: true, user: { username: 'system:serviceaccount:{ns}:sa', uid: '{sa.metadata.uid}' } } })],
    ['of a token for others', [post('~/serviceaccounts', { metadata: { name: 'sa' } }), keep('t', post('~/serviceaccounts/sa/token', { spec: { audiences: ['x'] } }))], post(`${authentication}/tokenreviews`, { spec: { token: '{t.status.token}' } }), made({ status: { error: expect.stringContaining('token audiences ["x"] is invalid') } })],
    ['of a token whose account is gone', [post('~/serviceaccounts', { metadata: { name: 'sa' } }), keep('t', post('~/serviceaccounts/sa/token', {})), del('~/serviceaccounts/sa')], post(`${authentication}/tokenreviews`, { spec: { token: '{t.status.token}' } }), made({ status: { error: '[invalid bearer token, service account token has been invalidated]' } })],
    ['of what a master may do', [], post(`${authorization}/subjectaccessreviews`, { spec: { user: 'x', groups: ['system:masters'], ...mayGetPods } }), made({ status: { allowed: true } })],
    ['of what nobody may do', [], post(`${authorization}/subjectaccessreviews`, { spec: { user: 'nobody', ...mayGetPods } }), made({ status: { allowed: false } })],
    ['of what one may do', [], post(`${authorization}/selfsubjectaccessreviews`, { spec: mayGetPods }), made({ status: { allowed: true } })],
    ['of nothing', [], post(`${authorization}/selfsubjectaccessreviews`, {}), invalid('spec.resourceAttributes')],
    ['in a namespace', [], post(`${authorization}/namespaces/{ns}/localsubjectaccessreviews`, { spec: { user: 'nobody', ...mayGetPods } }), made({ metadata: { namespace: '{ns}' }, status: { allowed: false } })],
    ['in a namespace of another', [], post(`${authorization}/namespaces/{ns}/localsubjectaccessreviews`, { spec: { user: 'u', resourceAttributes: { verb: 'get', resource: 'pods', namespace: 'other' } } }), invalid('spec.resourceAttributes.namespace')],
    ['of all that one may do', [], post(`${authorization}/selfsubjectrulesreviews`, { spec: { namespace: '{ns}' } }), made({ status: { resourceRules: expect.arrayContaining([{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }]), incomplete: false } })],
    ['cannot be listed', [], get(`${authentication}/tokenreviews`), refused(405, 'MethodNotAllowed')],
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
  name: 'events of their own group',
  everywhere: true,
  rows: [
    ['are those of the core group', [post(events, event({ note: 'hello' }))], get('~/events/e'), ok({ apiVersion: 'v1', involvedObject: { name: 'p' }, message: 'hello', reportingComponent: 'example.com/c' })],
    ['say everything', [], post(events, event({ action: undefined, reason: undefined })), invalid('action')],
    ['change no more', [post(events, event())], patch(`${events}/e`, { reason: 'Other' }), invalid('reason')],
    ['but go on', [post(events, event())], patch(`${events}/e`, { series: { count: 2, lastObservedTime: '2026-01-01T00:00:01.000000Z' } }), ok({ series: { count: 2 } })],
    ['are found by their own fields', [post(events, event())], get(`${events}?fieldSelector=regarding.name=p`), names('e')],
    ['and by no others', [post(events, event())], get(`${events}?fieldSelector=involvedObject.name=p`), refused(400, 'BadRequest', 'field label not supported: involvedObject.name')],
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
  name: 'definitions of kinds',
  rows: [
    ['are completed', [], post(definitions, definition()), made({ spec: { names: { singular: 'min', listKind: 'MinList' }, conversion: { strategy: 'None' } }, status: { storedVersions: ['v1'] } })],
    ['are called after what they define', [], post(definitions, definition(undefined, 'others')), invalid('metadata.name')],
    ['are structural', [], post(definitions, definition({ type: 'object', properties: { spec: {} } })), invalid('spec.validation.openAPIV3Schema.properties[spec].type')],
    ['are changed by those who know them', [keep('d', post(definitions, definition()))], put(`${definitions}/mins.{ns}.example.com`, definition()), invalid('metadata.resourceVersion')],
    ['keep their plural', [post(definitions, definition())], patch(`${definitions}/mins.{ns}.example.com`, { spec: { names: { plural: 'others' } } }), invalid('spec.names.plural')],
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
  name: 'rules for requests',
  rows: [
    ['webhooks are completed', [], post(`${admission}/validatingwebhookconfigurations?dryRun=All`, { metadata: { name: '{ns}' }, webhooks: [webhook] }), made({ webhooks: [{ failurePolicy: 'Fail', matchPolicy: 'Equivalent', timeoutSeconds: 10 }] })],
    ['webhooks do no harm', [], post(`${admission}/mutatingwebhookconfigurations`, { metadata: { name: '{ns}' }, webhooks: [{ ...webhook, sideEffects: 'Some' }] }), invalid('webhooks[0].sideEffects')],
    ['policies match something', [], post(`${admission}/validatingadmissionpolicies`, { metadata: { name: '{ns}' }, spec: { validations: [{ expression: 'true' }] } }), invalid('spec.matchConstraints')],
    ['policies are put in force', [], post(`${admission}/validatingadmissionpolicybindings`, { metadata: { name: '{ns}' }, spec: { policyName: 'p' } }), invalid('spec.validationActions')],
    ['there are flow schemas from the start', [], get(`${flow}/flowschemas/exempt`), ok({ spec: { matchingPrecedence: 1, priorityLevelConfiguration: { name: 'exempt' } } })],
    ['what is exempt stays exempt', [], patch(`${flow}/flowschemas/exempt?dryRun=All`, { spec: { matchingPrecedence: 2 } }), invalid('spec')],
    ['levels know their shares', [], post(`${flow}/prioritylevelconfigurations?dryRun=All`, { metadata: { name: '{ns}' }, spec: { type: 'Limited', limited: { limitResponse: { type: 'Reject' } } } }), made({ spec: { limited: { nominalConcurrencyShares: 30 } } })],
    ['each version that is served has an APIService', [], get('/apis/{group:apiregistration}/v1/apiservices/v1.apps'), ok({ spec: { group: 'apps', version: 'v1' }, status: { conditions: [{ type: 'Available', status: 'True' }] } })],
  ],
};
