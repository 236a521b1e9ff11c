import { parseServiceAccountUserName, serviceAccountGroups, serviceAccountUserName } from './user-info.js';

describe('ServiceAccount user names', () => {
  it.each([
    ['system:serviceaccount:web:default', { namespace: 'web', name: 'default' }],
    ['system:serviceaccount:web', undefined],
    ['system:serviceaccount:a:b:c', undefined],
    ['system:serviceaccount::b', undefined],
    ['system:serviceaccount:Web:default', undefined],
    ['system:serviceaccount:web:de fault', undefined],
    ['system:serviceaccount:web/../x:default', undefined],
    ['system:serviceaccount:web:a.b', { namespace: 'web', name: 'a.b' }],
    ['jane', undefined],
  ])('%s', (userName, want) => expect(parseServiceAccountUserName(userName)).toEqual(want));

  it('round-trip', () => {
    expect(serviceAccountUserName('web', 'default')).toBe('system:serviceaccount:web:default');
    expect(serviceAccountGroups('web')).toEqual(['system:serviceaccounts', 'system:serviceaccounts:web']);
  });
});
