import type { AuthenticationResult } from '../authenticator.js';
import { requestHeaderAuthenticator, type RequestHeaderNames } from './request-header.authenticator.js';

const names: RequestHeaderNames = {
  allowedNames: ['front'],
  usernameHeaders: ['X-Remote-User', 'X-Other-User'],
  uidHeaders: ['X-Remote-Uid'],
  groupHeaders: ['X-Remote-Group', 'X-Team'],
  extraHeaderPrefixes: ['X-Remote-Extra-'],
};
const user = (name: string, more: object = {}) => ({
  user: { name, uid: '', groups: ['system:authenticated'], extra: {}, ...more },
});

test.each<{ name: string; proxy?: string; headers: string[]; want: AuthenticationResult; given?: object }>([
  { name: 'a user', proxy: 'front', headers: ['X-REMOTE-USER', 'jane'], want: user('jane') },
  {
    name: 'the first header with a value',
    proxy: 'front',
    headers: ['x-other-user', 'b', 'x-remote-user', '', 'x-remote-user', 'a'],
    want: user('a'),
  },
  {
    name: 'uid, groups and extra information',
    proxy: 'front',
    headers: [
      ...['x-remote-user', 'jane', 'x-remote-uid', '7', 'x-team', 'c'],
      ...['x-remote-group', 'a,b', 'x-remote-group', 'd', 'x-remote-extra-acme.io%2Fproject', 'p'],
      ...['X-Remote-Extra-Scopes', 'x', 'x-remote-extra-scopes', 'y', 'x-remote-extra-%zz', 'raw'],
    ],
    want: user('jane', {
      uid: '7',
      groups: ['a,b', 'd', 'c', 'system:authenticated'],
      extra: { 'acme.io/project': ['p'], scopes: ['x', 'y'], '%zz': ['raw'] },
    }),
  },
  {
    name: 'keys of extra information in lower case before they are decoded',
    proxy: 'front',
    headers: ['x-remote-user', 'jane', 'X-Remote-Extra-A%42', 'p', 'x-remote-extra-%C3%A9%FF', 'q'],
    want: user('jane', { extra: { aB: ['p'], 'é\ufffd': ['q'] } }),
  },
  {
    name: 'extra information with the key __proto__',
    proxy: 'front',
    headers: ['x-remote-user', 'jane', 'x-remote-extra-__proto__', 'p'],
    want: user('jane', { extra: Object.fromEntries([['__proto__', ['p']]]) }),
  },
  {
    name: 'a user name in UTF-8',
    proxy: 'front',
    headers: ['x-remote-user', Buffer.from('jané').toString('latin1')],
    want: user('jané'),
  },
  {
    name: 'a user name that is not UTF-8',
    proxy: 'front',
    headers: ['x-remote-user', 'jan\u00ff'],
    want: 'rejected',
  },
  { name: 'a proxy without user headers', proxy: 'front', headers: [], want: undefined },
  { name: 'user headers of a client that is no proxy', headers: ['x-remote-user', 'system:admin'], want: undefined },
  {
    name: 'a certificate of the CA whose name is not allowed',
    proxy: 'back',
    headers: ['x-remote-user', 'jane'],
    want: 'rejected',
  },
  {
    name: 'any certificate of the CA if no names are configured',
    proxy: 'back',
    headers: ['x-remote-user', 'jane'],
    want: user('jane'),
    given: { allowedNames: [] },
  },
])('front proxy: $name', ({ proxy, headers, want, given }) => {
  const { authenticate } = requestHeaderAuthenticator({ ...names, ...given });
  const credentials = { bearerToken: undefined, certificateUser: undefined, path: '/', rawHeaders: headers };
  const result = authenticate({ ...credentials, proxyName: proxy });
  expect(result).toEqual(want);
  expect(JSON.stringify(result)).toBe(JSON.stringify(want));
});
