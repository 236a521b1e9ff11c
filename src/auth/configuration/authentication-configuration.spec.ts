import { namingProfile } from '../../config/naming-profile.js';
import { readAuthenticationConfiguration } from './authentication-configuration.js';

const options = {
  file: '/etc/authn.yaml',
  naming: namingProfile('kubernetes'),
  isAnonymousFlagGiven: false,
  allowsEverything: false,
  ownIssuers: [],
};
const head = 'apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\n';
const read = (text: string, changes: Partial<typeof options> = {}) =>
  readAuthenticationConfiguration(text, { ...options, ...changes });

describe('AuthenticationConfiguration', () => {
  it.each([
    ['without anonymous leaves it to the flag', head, undefined],
    ['with an empty jwt list is accepted', `${head}jwt: []`, undefined],
    ['can disable anonymous requests', `${head}anonymous: {enabled: false}`, { enabled: false, paths: undefined }],
    [
      'can enable anonymous requests on every path',
      `${head}anonymous: {enabled: true}`,
      { enabled: true, paths: undefined },
    ],
    ['disables anonymous requests if enabled is missing', `${head}anonymous: {}`, { enabled: false, paths: undefined }],
    [
      'can enable anonymous requests on some paths',
      `${head}anonymous: {enabled: true, conditions: [{path: /livez}, {path: /readyz}]}`,
      { enabled: true, paths: new Set(['/livez', '/readyz']) },
    ],
    [
      'can be JSON',
      JSON.stringify({ apiVersion: 'apiserver.config.k8s.io/v1beta1', kind: 'AuthenticationConfiguration' }),
      undefined,
    ],
  ])('%s', (_title, text, anonymous) => expect(read(text)).toEqual({ anonymous, jwt: [], text }));

  it.each<[string, string, RegExp, Partial<typeof options>?]>([
    [
      'another kind',
      'apiVersion: v1\nkind: Pod',
      /kind: must be AuthenticationConfiguration in apiserver.config.k8s.io\/v1 or/,
    ],
    ['an empty file', '', /cannot be read/],
    ['a list', '- a', /authn.yaml/],
    ['invalid YAML', 'a: [', /cannot be read/],
    ['a misspelt field', `${head}anonymus: {enabled: true}`, /anonymus: unknown field/],
    [
      'a misspelt condition',
      `${head}anonymous: {enabled: true, conditions: [{paths: /a}]}`,
      /conditions\[0\].paths: unknown field/,
    ],
    [
      'a condition without a path',
      `${head}anonymous: {enabled: true, conditions: [{}]}`,
      /conditions\[0\].path: must be a path that begins with/,
    ],
    [
      'a condition that is no mapping',
      `${head}anonymous: {enabled: true, conditions: [/a]}`,
      /conditions\[0\]: must be a mapping/,
    ],
    ['a text as enabled', `${head}anonymous: {enabled: "yes"}`, /anonymous.enabled: must be true or false/],
    [
      'conditions of disabled anonymous requests',
      `${head}anonymous: {conditions: [{path: /a}]}`,
      /anonymous.enabled: must be true if conditions are given/,
    ],
    ['an empty entry of jwt', `${head}jwt: [{}]`, /jwt\[0\].issuer.url: Required value/],
    [
      'anonymous beside the flag',
      `${head}anonymous: {enabled: false}`,
      /anonymous: cannot be combined with --anonymous-auth/,
      { isAnonymousFlagGiven: true },
    ],
    [
      'anonymous requests with AlwaysAllow',
      `${head}anonymous: {enabled: true}`,
      /anonymous.enabled: cannot be true with/,
      { allowsEverything: true },
    ],
    ['a property of prototypes', `${head}__proto__: {enabled: true}`, /__proto__: unknown field/],
  ])('%s is refused', (_title, text, message, changes = {}) => {
    expect(() => read(text, changes)).toThrow(message);
    expect(() => read(text, changes)).toThrow('--authentication-config: /etc/authn.yaml: ');
  });
});
