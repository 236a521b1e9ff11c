import { impersonationChecks, impersonationOf } from './impersonation.js';

const bytes = (text: string) => Buffer.from(text).toString('latin1');
const authenticated = 'system:authenticated';
const unauthenticated = 'system:unauthenticated';
const accounts = ['system:serviceaccounts', 'system:serviceaccounts:web'];

// prettier-ignore
it.each<[name: string, headers: string[], want: object | undefined, checks?: string[]]>([
  ['nothing', ['user-agent', 'x'], undefined],
  ['an unknown header of the family', ['impersonate-role', 'admin'], undefined],
  ['an empty user', ['impersonate-user', ''], undefined],
  ['a user', ['Impersonate-User', 'joe'], { name: 'joe', groups: [authenticated] }, ['users joe']],
  ['a repeated user (the first value is used)', ['impersonate-user', 'joe', 'IMPERSONATE-USER', 'admin'], { name: 'joe' }, ['users joe']],
  ['a repeated uid: the first', ['impersonate-user', 'joe', 'impersonate-uid', '1', 'impersonate-uid', '2'], { uid: '1' }, ['users joe', 'uids 1']],
  ['letters beyond ASCII', ['impersonate-user', bytes('jané')], { name: 'jané' }, ['users jané']],
  ['groups, each by itself', ['impersonate-user', 'joe', 'impersonate-group', 'a,b', 'impersonate-group', ''], { groups: ['a,b', '', authenticated] }, ['users joe', 'groups a,b', 'groups ']],
  ['an almighty group', ['impersonate-user', 'joe', 'impersonate-group', 'system:masters'], { groups: ['system:masters', authenticated] }, ['users joe', 'groups system:masters']],
  ['a group with a zero-width character', ['impersonate-user', 'joe', 'impersonate-group', bytes('system:\u200bmasters')], { groups: ['system:\u200bmasters', authenticated] }, ['users joe', 'groups system:\u200bmasters']],
  ['nobody', ['impersonate-user', 'system:anonymous'], { groups: [unauthenticated] }, ['users system:anonymous']],
  ['nobody with a group of somebody', ['impersonate-user', 'system:anonymous', 'impersonate-group', authenticated], { groups: [authenticated, unauthenticated] }, ['users system:anonymous', `groups ${authenticated}`]],
  ['an account', ['impersonate-user', 'system:serviceaccount:web:sa'], { groups: [...accounts, authenticated] }, ['serviceaccounts web/sa']],
  ['an account with groups of its own', ['impersonate-user', 'system:serviceaccount:web:sa', 'impersonate-group', 'g'], { groups: ['g', authenticated] }, ['serviceaccounts web/sa', 'groups g']],
  ['a user that only looks like an account', ['impersonate-user', 'system:serviceaccount:Web:sa'], { groups: [authenticated] }, ['users system:serviceaccount:Web:sa']],
  ['extra values', ['impersonate-user', 'joe', 'Impersonate-Extra-Acme.io%2FRole', 'x', 'impersonate-extra-acme.io%2frole', 'y'], { extra: { 'acme.io/role': ['x', 'y'] } }, ['users joe', 'userextras/acme.io/role x', 'userextras/acme.io/role y']],
  ['extra of a wrong encoding', ['impersonate-user', 'joe', 'impersonate-extra-%zz', 'x'], { extra: { '%zz': ['x'] } }, ['users joe', 'userextras/%zz x']],
  ['extra of a prototype', ['impersonate-user', 'joe', 'impersonate-extra-__proto__', 'x'], {}, ['users joe', 'userextras/__proto__ x']],
])('impersonation of %s', (_name, headers, want, checks = []) => {
  const wanted = impersonationOf(headers);
  if (!want) return expect(wanted).toBeUndefined();
  expect(wanted!.user).toMatchObject(want);
  const asked = impersonationChecks(wanted!, 'authentication.k8s.io').map(
    ({ resource, subresource, namespace, name }) =>
      `${resource}${subresource && '/'}${subresource} ${namespace && `${namespace}/`}${name}`,
  );
  expect(asked).toEqual(checks);
});

it.each([
  ['a group without a user', ['impersonate-group', 'system:masters'], 'without impersonating a user name'],
  ['an empty user before a group', ['impersonate-user', '', 'impersonate-group', 'a'], 'without impersonating'],
  [
    'an empty user before another',
    ['impersonate-user', '', 'impersonate-user', 'a', 'impersonate-uid', '1'],
    'without',
  ],
  ['bytes that are no UTF-8', ['impersonate-user', 'jan\u00ff'], 'not UTF-8'],
])('impersonation with %s is refused (400)', (_name, headers, want) =>
  expect(() => impersonationOf(headers)).toThrow(want),
);
