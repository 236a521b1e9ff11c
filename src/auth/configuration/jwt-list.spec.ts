import { namingProfile } from '../../config/naming-profile.js';
import { keyPem, makeAuthority, makeKey } from '../../certificates/authority.js';
import { readAuthenticationConfiguration } from './authentication-configuration.js';

type Fields = Readonly<Record<string, unknown>>;

const options = {
  file: '/etc/authn.yaml',
  naming: namingProfile('kubernetes'),
  isAnonymousFlagGiven: false,
  allowsEverything: false,
  ownIssuers: ['https://own.example.com'],
};
const read = (jwt: unknown, changes: Partial<typeof options> = {}) =>
  readAuthenticationConfiguration(
    JSON.stringify({ apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AuthenticationConfiguration', jwt }),
    { ...options, ...changes },
  ).jwt;

const issuer = { url: 'https://issuer.example.com', audiences: ['a'] };
const username = { claim: 'sub', prefix: '' };
/** An entry with changes of its issuer, its mappings and other fields. */
const entry = (changes: { issuer?: Fields; claimMappings?: Fields; [field: string]: unknown } = {}) => ({
  ...changes,
  issuer: { ...issuer, ...changes.issuer },
  claimMappings: { username, ...changes.claimMappings },
});
const extra = (key: string, valueExpression = 'claims.x') =>
  entry({ claimMappings: { extra: [{ key, valueExpression }] } });
const claimRules = (...claimValidationRules: Fields[]) => entry({ claimValidationRules });
const userRules = (...userValidationRules: Fields[]) => entry({ userValidationRules });
const byExpression = (expression: string) => ({ username: { expression } });
const verified = { expression: 'claims.email_verified == true' };

describe('jwt of an AuthenticationConfiguration', () => {
  it('is read with its defaults', () => {
    const [found] = read([entry({ claimMappings: { groups: { claim: 'g', prefix: 'x:' }, uid: { claim: 'u' } } })]);
    expect(found).toEqual({
      issuer: {
        url: 'https://issuer.example.com',
        discoveryUrl: 'https://issuer.example.com/.well-known/openid-configuration',
        certificateAuthority: undefined,
      },
      audiences: ['a'],
      algorithms: new Set(['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512']),
      username: { claim: 'sub', prefix: '' },
      groups: { claim: 'g', prefix: 'x:' },
      uid: { claim: 'u', prefix: '' },
      extra: [],
      requiredClaims: [],
      claimRules: [],
      userRules: [],
    });
  });

  it('has the discovery document at the well-known path of an issuer with a path, or at discoveryURL', () => {
    const discoveryOf = (fields: Fields) => read([entry({ issuer: fields })])[0]!.issuer.discoveryUrl;
    const wellKnown = 'https://a.example/t/1/.well-known/openid-configuration';
    expect(discoveryOf({ url: 'https://a.example/t/1' })).toBe(wellKnown);
    expect(discoveryOf({ url: 'https://a.example/t/1/' })).toBe(wellKnown);
    expect(discoveryOf({ discoveryURL: 'https://other.example/d' })).toBe('https://other.example/d');
  });

  it('accepts a CA certificate', async () => {
    const certificateAuthority = await makeAuthority(makeKey(), Date.now());
    expect(read([entry({ issuer: { certificateAuthority } })])[0]!.issuer).toMatchObject({ certificateAuthority });
  });

  it.each([
    ['several audiences with MatchAny', entry({ issuer: { audiences: ['a', 'b'], audienceMatchPolicy: 'MatchAny' } })],
    ['one audience with MatchAny', entry({ issuer: { audienceMatchPolicy: 'MatchAny' } })],
    ['a required claim with an empty value', claimRules({ claim: 'a' })],
    ['a rule over claims', claimRules({ expression: 'claims.a == "x" && claims.b.c > 1.0', message: 'no' })],
    ['a rule over the user', userRules({ expression: "!user.username.startsWith('system:')", message: 'no' })],
    ['every field of the user', userRules({ expression: "user.uid == '' && user.groups.all(g, g in user.extra)" })],
    ['a user name from an expression', entry({ claimMappings: byExpression('"x:" + claims.sub') })],
    [
      'groups, uid and extra from expressions',
      entry({
        claimMappings: {
          groups: { expression: 'claims.roles.split(",")' },
          uid: { expression: 'claims.?oid.orValue("")' },
          extra: [{ key: 'example.com/a', valueExpression: 'has(claims.a) ? claims.a : ""' }],
        },
      }),
    ],
    [
      'a user name from claims.email with a rule',
      { ...claimRules(verified), claimMappings: byExpression('claims.email') },
    ],
    [
      'a user name from claims.email that checks email_verified',
      entry({ claimMappings: byExpression('claims.?email_verified.orValue(true) ? claims.email : claims.sub') }),
    ],
    [
      'a user name from claims.email with an extra that reads email_verified',
      entry({
        claimMappings: {
          ...byExpression('claims.email'),
          extra: [{ key: 'example.com/v', valueExpression: 'string(claims.email_verified)' }],
        },
      }),
    ],
  ])('%s is accepted', (_title, one) => expect(read([one])).toHaveLength(1));

  it.each<[string, unknown, string | RegExp]>([
    ['no list', {}, 'jwt: must be a list'],
    ['an entry that is no mapping', ['a'], 'jwt[0]: must be a mapping'],
    ['more than 64 entries', Array(65).fill(entry()), 'jwt: Too many: 65: must have at most 64 items'],
    ['an unknown field', [entry({ issuers: 1 })], 'jwt[0].issuers: unknown field'],
    ['an unknown field of the issuer', [entry({ issuer: { uri: 'x' } })], 'jwt[0].issuer.uri: unknown field'],
    ['an unknown mapping', [entry({ claimMappings: { name: {} } })], 'jwt[0].claimMappings.name: unknown field'],
    [
      'a number as claim',
      [entry({ claimMappings: { uid: { claim: 1 } } })],
      'jwt[0].claimMappings.uid.claim: must be a string',
    ],
    ['__proto__', [JSON.parse('{"__proto__": {}, "issuer": {}}')], 'jwt[0].__proto__: unknown field'],
    ['no issuer', [{ claimMappings: { username } }], 'jwt[0].issuer.url: Required value'],
    ['no URL', [entry({ issuer: { url: '' } })], 'jwt[0].issuer.url: Required value'],
    [
      'an http URL',
      [entry({ issuer: { url: 'http://a.example' } })],
      'jwt[0].issuer.url: Invalid value: "http://a.example": URL scheme must be https',
    ],
    [
      'a URL with a password',
      [entry({ issuer: { url: 'https://u:p@a.example' } })],
      'URL must not contain a username or password',
    ],
    [
      'a URL with an empty user',
      [entry({ issuer: { url: 'https://@a.example' } })],
      'URL must not contain a username or password',
    ],
    ['a URL with a query', [entry({ issuer: { url: 'https://a.example?x=1' } })], 'URL must not contain a query'],
    ['a URL with a fragment', [entry({ issuer: { url: 'https://a.example#x' } })], 'URL must not contain a fragment'],
    ['a relative URL', [entry({ issuer: { url: '/a' } })], 'must be an absolute URL'],
    ['a URL with a space before it', [entry({ issuer: { url: ' https://a.example' } })], 'must be an absolute URL'],
    ['a URL with a backslash', [entry({ issuer: { url: 'https:\\\\a.example' } })], 'must be an absolute URL'],
    [
      'an issuer of service account tokens',
      [entry({ issuer: { url: 'https://own.example.com' } })],
      'URL must not be an issuer of service account tokens',
    ],
    ['the same URL twice', [entry(), entry()], 'jwt[1].issuer.url: Duplicate value: "https://issuer.example.com"'],
    [
      'the same discovery URL twice',
      [
        entry({ issuer: { discoveryURL: 'https://d.example' } }),
        entry({ issuer: { url: 'https://b.example', discoveryURL: 'https://d.example' } }),
      ],
      'jwt[1].issuer.discoveryURL: Duplicate value: "https://d.example"',
    ],
    [
      'a discovery URL equal to the URL',
      [entry({ issuer: { discoveryURL: 'https://issuer.example.com//' } })],
      'jwt[0].issuer.discoveryURL: Invalid value: "https://issuer.example.com//": discoveryURL must be different from URL',
    ],
    [
      'an http discovery URL',
      [entry({ issuer: { discoveryURL: 'http://d.example' } })],
      'jwt[0].issuer.discoveryURL: Invalid value: "http://d.example": URL scheme must be https',
    ],
    ['no audiences', [entry({ issuer: { audiences: [] } })], 'jwt[0].issuer.audiences: Required value'],
    ['an empty audience', [entry({ issuer: { audiences: [''] } })], 'jwt[0].issuer.audiences[0]: Required value'],
    [
      'an audience twice',
      [entry({ issuer: { audiences: ['a', 'a'], audienceMatchPolicy: 'MatchAny' } })],
      'jwt[0].issuer.audiences[1]: Duplicate value: "a"',
    ],
    [
      'several audiences without a policy',
      [entry({ issuer: { audiences: ['a', 'b'] } })],
      'jwt[0].issuer.audienceMatchPolicy: Invalid value: "": audienceMatchPolicy must be MatchAny for multiple audiences',
    ],
    [
      'an unknown policy',
      [entry({ issuer: { audienceMatchPolicy: 'MatchAll' } })],
      'audienceMatchPolicy must be empty or MatchAny for single audience',
    ],
    [
      'a CA that is no certificate',
      [entry({ issuer: { certificateAuthority: 'x' } })],
      'jwt[0].issuer.certificateAuthority: Invalid value: "<omitted>": the text holds no PEM certificate',
    ],
    [
      'an egress selector',
      [entry({ issuer: { egressSelectorType: 'cluster' } })],
      'jwt[0].issuer.egressSelectorType: Forbidden: this server has no egress selectors',
    ],
    [
      'an unknown egress selector',
      [entry({ issuer: { egressSelectorType: 'etcd' } })],
      'jwt[0].issuer.egressSelectorType: Invalid value: "etcd"',
    ],
    [
      'a rule with claim and expression',
      [claimRules({ claim: 'a', expression: 'true' })],
      `jwt[0].claimValidationRules[0]: Invalid value: "a": claim and expression can't both be set`,
    ],
    [
      'an empty rule',
      [claimRules({})],
      'jwt[0].claimValidationRules[0]: Required value: claim or expression is required',
    ],
    [
      'a required claim with a message',
      [claimRules({ claim: 'a', message: 'm' })],
      'jwt[0].claimValidationRules[0].message: Invalid value: "m": may not be specified when claim is set',
    ],
    [
      'a required claim twice',
      [claimRules({ claim: 'a' }, { claim: 'a' })],
      'jwt[0].claimValidationRules[1].claim: Duplicate value: "a"',
    ],
    [
      'an expression with a value',
      [claimRules({ expression: 'true', requiredValue: 'v' })],
      'jwt[0].claimValidationRules[0].requiredValue: Invalid value: "v": may not be specified when expression is set',
    ],
    [
      'an expression twice',
      [claimRules({ expression: 'true' }, { expression: 'true' })],
      'jwt[0].claimValidationRules[1].expression: Duplicate value: "true"',
    ],
    [
      'a rule that is no bool',
      [claimRules({ expression: 'claims.a' })],
      'jwt[0].claimValidationRules[0].expression: Invalid value: "claims.a": must evaluate to bool',
    ],
    [
      'a rule that does not compile',
      [claimRules({ expression: 'claims +' })],
      /claimValidationRules\[0\].expression: Invalid value: "claims \+": compilation failed: ERROR: <input>:1:/,
    ],
    [
      'a rule over claims that reads the user',
      [claimRules({ expression: "user.username == 'a'" })],
      "compilation failed: ERROR: <input>:1:1: undeclared reference to 'user' (in container '')",
    ],
    [
      'a sum of claims',
      [claimRules({ expression: 'claims + 1 == 2' })],
      "found no matching overload for '_+_' applied to '(map(string, any), int)'",
    ],
    [
      'no claim mappings',
      [{ issuer }],
      'jwt[0].claimMappings.username: Required value: claim or expression is required',
    ],
    [
      'a user name with claim and expression',
      [entry({ claimMappings: { username: { claim: 'a', expression: 'claims.a' } } })],
      `jwt[0].claimMappings.username: Invalid value: "": claim and expression can't both be set`,
    ],
    [
      'a user name without prefix',
      [entry({ claimMappings: { username: { claim: 'a' } } })],
      'jwt[0].claimMappings.username.prefix: Required value: prefix is required when claim is set',
    ],
    [
      'groups without prefix',
      [entry({ claimMappings: { groups: { claim: 'a' } } })],
      'jwt[0].claimMappings.groups.prefix: Required value',
    ],
    [
      'an expression with a prefix',
      [entry({ claimMappings: { username: { expression: 'claims.a', prefix: '' } } })],
      'jwt[0].claimMappings.username.prefix: Invalid value: "": may not be specified when expression is set',
    ],
    [
      'a uid with claim and expression',
      [entry({ claimMappings: { uid: { claim: 'a', expression: 'claims.a' } } })],
      `jwt[0].claimMappings.uid: Invalid value: "": claim and expression can't both be set`,
    ],
    [
      'a uid that does not compile',
      [entry({ claimMappings: { uid: { expression: '(' } } })],
      'jwt[0].claimMappings.uid.expression: Invalid value: "(": compilation failed',
    ],
    [
      'claims.email without email_verified',
      [entry({ claimMappings: byExpression('claims.email') })],
      'jwt[0].claimMappings.username.expression: Invalid value: "claims.email": claims.email_verified must be used',
    ],
    [
      'claims.?email without email_verified',
      [entry({ claimMappings: byExpression('claims.?email.orValue("")') })],
      'claims.email_verified must be used',
    ],
    [
      'claims.email within a macro',
      [entry({ claimMappings: byExpression('claims.all(c, c == claims.email) ? "a" : "b"') })],
      'claims.email_verified must be used',
    ],
    ['an extra without key', [extra('')], 'jwt[0].claimMappings.extra[0].key: Required value'],
    [
      'an extra key without domain',
      [extra('foo')],
      'jwt[0].claimMappings.extra[0].key: Invalid value: "foo": must be a domain-prefixed path',
    ],
    [
      'an extra key in capitals',
      [extra('example.com/Foo')],
      'jwt[0].claimMappings.extra[0].key: Invalid value: "example.com/Foo": must be lowercase',
    ],
    ['an extra key of k8s.io', [extra('a.k8s.io/foo')], 'are reserved for Kubernetes use'],
    ['an extra key of kubernetes.io', [extra('kubernetes.io/foo')], 'are reserved for Kubernetes use'],
    [
      'an extra key twice',
      [
        entry({
          claimMappings: {
            extra: [
              { key: 'e.com/a', valueExpression: '"a"' },
              { key: 'e.com/a', valueExpression: '"b"' },
            ],
          },
        }),
      ],
      'jwt[0].claimMappings.extra[1].key: Duplicate value: "e.com/a"',
    ],
    [
      'an extra without expression',
      [extra('example.com/a', '')],
      'jwt[0].claimMappings.extra[0].valueExpression: Required value',
    ],
    ['a user rule without expression', [userRules({})], 'jwt[0].userValidationRules[0].expression: Required value'],
    [
      'a user rule twice',
      [userRules({ expression: 'true' }, { expression: 'true' })],
      'jwt[0].userValidationRules[1].expression: Duplicate value: "true"',
    ],
    [
      'a user rule that is no bool',
      [userRules({ expression: 'user.username' })],
      'jwt[0].userValidationRules[0].expression: Invalid value: "user.username": must evaluate to bool',
    ],
    [
      'a user rule that reads claims',
      [userRules({ expression: 'claims.a == "b"' })],
      "undeclared reference to 'claims'",
    ],
    ['a user rule with an unknown field', [userRules({ expression: 'user.name == "b"' })], "undefined field 'name'"],
  ])('%s is refused', (_title, jwt, message) => {
    expect(() => read(jwt)).toThrow(message);
    expect(() => read(jwt)).toThrow('--authentication-config: /etc/authn.yaml: ');
  });

  it('a private key in place of a CA is not quoted in the error', () => {
    const certificateAuthority = keyPem(makeKey());
    expect(() => read([entry({ issuer: { certificateAuthority } })])).toThrow(/holds no PEM certificate/);
    expect(() => read([entry({ issuer: { certificateAuthority } })])).not.toThrow(certificateAuthority.slice(40, 60));
  });

  it('all problems of all entries are named at once', () => {
    const jwt = [entry({ issuer: { url: '' } }), extra('a'), entry({ claimMappings: { username: {} } })];
    expect(() => read(jwt)).toThrow(
      /jwt\[0\].issuer.url: .*jwt\[1\].claimMappings.extra\[0\].key: .*jwt\[2\].claimMappings.username: /s,
    );
  });

  it('the label domain of another naming profile is reserved in extra', () => {
    const naming = namingProfile('svc', { apiDomain: 'acme.io', labelDomain: 'acme.io' });
    const text = JSON.stringify({
      apiVersion: `${naming.group('apiserver.config')}/v1`,
      kind: 'AuthenticationConfiguration',
      jwt: [extra('x.acme.io/a')],
    });
    expect(() => readAuthenticationConfiguration(text, { ...options, naming })).toThrow('reserved for Kubernetes use');
  });
});
