import { decodeTokenReview, encodeTokenReview } from './token-review.js';

const apiVersion = 'authentication.k8s.io/v1';
const decode = (answer: unknown) => decodeTokenReview(Buffer.from(JSON.stringify(answer)), apiVersion);
const accepted = (user: unknown, more = {}) => ({
  kind: 'TokenReview',
  apiVersion,
  status: { authenticated: true, user, ...more },
});

it('a request has the version, the token and the audiences', () => {
  expect(JSON.parse(encodeTokenReview(apiVersion, 't', ['a', 'b']).toString())).toEqual({
    kind: 'TokenReview',
    apiVersion,
    metadata: {},
    spec: { token: 't', audiences: ['a', 'b'] },
    status: { user: {} },
  });
  expect(JSON.parse(encodeTokenReview(apiVersion, 't', []).toString())).toMatchObject({ spec: { token: 't' } });
});

describe('a user', () => {
  it('has name, uid, groups and extra of the answer', () => {
    const user = {
      username: 'eve',
      uid: '7',
      groups: ['a', 'b'],
      extra: { 'example.com/scope': ['x', 'y'], none: null },
    };
    expect(decode(accepted(user))).toEqual({
      user: {
        name: 'eve',
        uid: '7',
        groups: ['a', 'b', 'system:authenticated'],
        extra: { 'example.com/scope': ['x', 'y'], none: [] },
      },
      audiences: [],
      error: '',
    });
  });

  it.each([
    ['is in system:authenticated', { username: 'eve' }, ['system:authenticated']],
    [
      'in system:authenticated is not added again',
      { username: 'eve', groups: ['system:authenticated'] },
      ['system:authenticated'],
    ],
    [
      'in system:unauthenticated is not in system:authenticated',
      { username: 'eve', groups: ['system:unauthenticated'] },
      ['system:unauthenticated'],
    ],
    ['named system:anonymous is not in system:authenticated', { username: 'system:anonymous' }, []],
  ])('%s', (_title, user, groups) => expect(decode(accepted(user)).user?.groups).toEqual(groups));
});

describe('an answer', () => {
  const nobody = { user: undefined, audiences: [], error: '' };
  it.each<[string, unknown, unknown]>([
    ['without status authenticates nobody', { kind: 'TokenReview', apiVersion }, nobody],
    ['with a null status authenticates nobody', { kind: 'TokenReview', apiVersion, status: null }, nobody],
    ['with authenticated false authenticates nobody', accepted({ username: 'eve' }, { authenticated: false }), nobody],
    ['with a user alone authenticates nobody', { kind: 'TokenReview', apiVersion, status: { user: {} } }, nobody],
    ['can have an error', { status: { error: 'expired' } }, { ...nobody, error: 'expired' }],
    [
      'without kind and apiVersion is accepted',
      { status: { authenticated: true, user: { username: 'eve' }, audiences: ['a'] } },
      { user: expect.objectContaining({ name: 'eve' }), audiences: ['a'], error: '' },
    ],
    [
      'with authenticated true ignores error',
      accepted({ username: 'eve' }, { error: 'but' }),
      { user: expect.objectContaining({ name: 'eve' }), audiences: [], error: 'but' },
    ],
  ])('%s', (_title, answer, expected) => expect(decode(answer)).toEqual(expected));

  it.each<[string, unknown, string]>([
    ['of another kind', { ...accepted({ username: 'eve' }), kind: 'SubjectAccessReview' }, 'kind must be TokenReview'],
    ['that is a Status', { kind: 'Status', apiVersion: 'v1', status: 'Success' }, 'kind must be TokenReview'],
    [
      'of another version',
      { ...accepted({ username: 'eve' }), apiVersion: 'authentication.k8s.io/v1beta1' },
      'apiVersion must be authentication.k8s.io/v1, that of the request',
    ],
    ['that is a list', [accepted({ username: 'eve' })], 'the document must be a mapping'],
    ['that is null', null, 'the document must be a mapping'],
    ['with a text as status', { status: 'ok' }, 'status must be a mapping'],
    [
      'with a text as authenticated',
      { status: { authenticated: 'true' } },
      'status.authenticated must be true or false',
    ],
    ['with a number as authenticated', { status: { authenticated: 1 } }, 'status.authenticated must be true or false'],
    ['without user', { status: { authenticated: true } }, 'status.user is required with authenticated'],
    ['without username', accepted({}), 'status.user.username is required'],
    ['with an empty username', accepted({ username: '' }), 'status.user.username is required'],
    ['with a number as username', accepted({ username: 7 }), 'status.user.username must be a string'],
    ['with a text as groups', accepted({ username: 'eve', groups: 'a' }), 'status.user.groups must be a list'],
    ['with a number in groups', accepted({ username: 'eve', groups: [1] }), 'status.user.groups[0] must be a string'],
    [
      'with a text in extra',
      accepted({ username: 'eve', extra: { secret: 'x' } }),
      'status.user.extra must be a map of lists of strings',
    ],
    ['with a text as audiences', accepted({ username: 'eve' }, { audiences: 'a' }), 'status.audiences must be a list'],
  ])('%s is refused', (_title, answer, problem) => {
    expect(() => decode(answer)).toThrow(`its answer is not a TokenReview: ${problem}`);
  });

  it.each([
    ['empty', ''],
    ['not JSON', '<html>'],
    ['cut off', '{"kind":"TokenReview","status":{"authenticated":true'],
    ['in YAML', 'kind: TokenReview\nstatus: {authenticated: true}'],
    ['nested too deeply', `{"status":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
    ['with a property of prototypes', '{"status":{"authenticated":true,"user":{"username":"a","__proto__":{"b":1}}}}'],
  ])('%s is refused, and the error has no text of it', (_title, text) => {
    expect(() => decodeTokenReview(Buffer.from(text), apiVersion)).toThrow(
      /^its answer is not a TokenReview: it is not JSON$/,
    );
    expect({}).not.toHaveProperty('b');
  });
});
