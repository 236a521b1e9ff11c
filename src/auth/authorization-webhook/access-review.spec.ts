import { attributesOf } from '../../../test/harness/webhook-authorizers.js';
import { parseFieldSelector } from '../../machinery/field-selector.js';
import { parseLabelSelector } from '../../machinery/label-selector-parser.js';
import type { AuthorizationAttributes } from '../authorizer.js';
import { accessReviewSpec, decodeAccessReview, encodeAccessReview } from './access-review.js';

const apiVersion = 'authorization.k8s.io/v1';
const encode = (attributes: Partial<AuthorizationAttributes>, version = apiVersion): unknown =>
  JSON.parse(encodeAccessReview(version, accessReviewSpec(attributesOf(attributes), attributes)).toString());
const decode = (answer: unknown) => decodeAccessReview(Buffer.from(JSON.stringify(answer)), apiVersion);
const eve = { name: 'eve', uid: '7', groups: ['a', 'b'], extra: { 'example.com/scopes': ['x', 'y'] } };

describe('a review', () => {
  it('has the user and the attributes of a resource', () => {
    const attributes = { user: eve, group: 'apps', resource: 'deployments', subresource: 'scale' };
    expect(encode(attributes)).toEqual({
      kind: 'SubjectAccessReview',
      apiVersion,
      metadata: {},
      spec: {
        resourceAttributes: {
          namespace: 'shop',
          verb: 'get',
          group: 'apps',
          version: 'v1',
          resource: 'deployments',
          subresource: 'scale',
          name: 'web',
        },
        user: 'eve',
        groups: ['a', 'b'],
        extra: { 'example.com/scopes': ['x', 'y'] },
        uid: '7',
      },
      status: { allowed: false },
    });
  });

  it('of v1beta1 names the groups "group"', () => {
    const review = encode({ user: eve }, 'authorization.k8s.io/v1beta1') as { spec: Record<string, unknown> };
    expect(review.spec['group']).toEqual(['a', 'b']);
    expect(review.spec).not.toHaveProperty('groups');
  });

  it('has no empty fields', () => {
    const user = { name: 'eve', uid: '', groups: [], extra: {} };
    expect(encode({ user, namespace: '', name: '' })).toMatchObject({
      spec: { user: 'eve', resourceAttributes: { verb: 'get', version: 'v1', resource: 'pods' } },
    });
    expect(Object.keys((encode({ user, namespace: '', name: '' }) as { spec: object }).spec)).toEqual([
      'resourceAttributes',
      'user',
    ]);
  });

  it('of another path has path and verb', () => {
    const review = encode({ user: eve, isResourceRequest: false, path: '/metrics' }) as { spec: object };
    expect(review.spec).toMatchObject({ nonResourceAttributes: { path: '/metrics', verb: 'get' } });
    expect(review.spec).not.toHaveProperty('resourceAttributes');
  });

  it('has the requirements of selectors', () => {
    const fieldSelector = parseFieldSelector('spec.nodeName=a,status.phase!=Running');
    const labelSelector = parseLabelSelector('a=1,b!=2,c in (3,4),d notin (5),e,!f,g>6');
    expect(encode({ verb: 'list', name: '', fieldSelector, labelSelector })).toMatchObject({
      spec: {
        resourceAttributes: {
          fieldSelector: {
            requirements: [
              { key: 'spec.nodeName', operator: 'In', values: ['a'] },
              { key: 'status.phase', operator: 'NotIn', values: ['Running'] },
            ],
          },
          labelSelector: {
            requirements: [
              { key: 'a', operator: 'In', values: ['1'] },
              { key: 'b', operator: 'NotIn', values: ['2'] },
              { key: 'c', operator: 'In', values: ['3', '4'] },
              { key: 'd', operator: 'NotIn', values: ['5'] },
              { key: 'e', operator: 'Exists' },
              { key: 'f', operator: 'DoesNotExist' },
            ],
          },
        },
      },
    });
  });

  it('has no selector without requirements', () => {
    const review = encode({ fieldSelector: parseFieldSelector(''), labelSelector: parseLabelSelector('a>1') });
    expect(JSON.stringify(review)).not.toContain('Selector');
  });

  it('keeps texts and keys as they are', () => {
    const extra = JSON.parse('{"__proto__":["a"],"constructor":["b"]}') as Record<string, string[]>;
    const user = { ...eve, name: 'e"v\ne', extra };
    const text = encodeAccessReview(apiVersion, accessReviewSpec(attributesOf({ user }), {})).toString();
    expect(text).toContain('"extra":{"__proto__":["a"],"constructor":["b"]}');
    expect(text).toContain('"user":"e\\"v\\ne"');
  });
});

describe('an answer', () => {
  const noOpinion = { isAllowed: false, isDenied: false, reason: '' };
  it.each<[string, unknown, unknown]>([
    ['can allow', { allowed: true, reason: 'r' }, { isAllowed: true, isDenied: false, reason: 'r' }],
    ['can deny', { allowed: false, denied: true }, { isAllowed: false, isDenied: true, reason: '' }],
    ['can deny without allowed', { denied: true }, { isAllowed: false, isDenied: true, reason: '' }],
    ['can do both', { allowed: true, denied: true }, { isAllowed: true, isDenied: true, reason: '' }],
    ['can have no opinion', { allowed: false }, noOpinion],
    ['with nulls has no opinion', { allowed: null, denied: null, reason: null }, noOpinion],
    ['can have an evaluationError', { allowed: false, evaluationError: 'x' }, noOpinion],
  ])('%s', (_title, status, expected) => {
    expect(decode({ kind: 'SubjectAccessReview', apiVersion, status })).toEqual(expected);
    expect(decode({ status })).toEqual(expected);
  });

  it.each<[string, unknown, string]>([
    ['of another kind', { kind: 'TokenReview', status: { allowed: true } }, 'kind must be SubjectAccessReview'],
    ['that is a Status', { kind: 'Status', apiVersion: 'v1', status: 'Success' }, 'kind must be SubjectAccessReview'],
    [
      'of another version',
      { apiVersion: 'authorization.k8s.io/v1beta1', status: { allowed: true } },
      'apiVersion must be authorization.k8s.io/v1, that of the request',
    ],
    ['without status', { kind: 'SubjectAccessReview', apiVersion }, 'status is required'],
    ['with a null status', { status: null }, 'status is required'],
    ['with a text as status', { status: 'ok' }, 'status must be a mapping'],
    ['with a list as status', { status: [{ allowed: true }] }, 'status must be a mapping'],
    ['with a text as allowed', { status: { allowed: 'true' } }, 'status.allowed must be true or false'],
    ['with a number as allowed', { status: { allowed: 1 } }, 'status.allowed must be true or false'],
    ['with a text as denied', { status: { allowed: true, denied: 'no' } }, 'status.denied must be true or false'],
    ['with a number as reason', { status: { allowed: true, reason: 1 } }, 'status.reason must be a string'],
    ['with a list as evaluationError', { status: { allowed: true, evaluationError: [1] } }, 'status.evaluationError'],
    ['that is a list', [{ status: { allowed: true } }], 'the document must be a mapping'],
    ['that is null', null, 'the document must be a mapping'],
    ['that is true', true, 'the document must be a mapping'],
  ])('%s is refused', (_title, answer, problem) => {
    expect(() => decode(answer)).toThrow(`its answer is not a SubjectAccessReview: ${problem}`);
  });

  it.each([
    ['empty', ''],
    ['HTML', '<html>allowed: true</html>'],
    ['cut off', '{"status":{"allowed":true'],
    ['in YAML', 'status: {allowed: true}'],
    ['nested too deeply', `{"status":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
    ['with a property of prototypes', '{"status":{"__proto__":{"allowed":true}}}'],
  ])('%s is refused, and the error has no text of it', (_title, text) => {
    expect(() => decodeAccessReview(Buffer.from(text), apiVersion)).toThrow(
      /^its answer is not a SubjectAccessReview: it is not JSON$/,
    );
    expect({}).not.toHaveProperty('allowed');
  });
});
