import { authorityPem, leafPem } from '../../../test/harness/certificate-texts.js';
import { combinedTrust, trustData, type ClientTrust } from './client-trust.js';

const nowMs = Date.parse('2026-01-01T12:00:00Z');
const requestHeader: ClientTrust['requestHeader'] = {
  clientCaPem: authorityPem,
  allowedNames: ['proxy'],
  usernameHeaders: ['X-Remote-User'],
  uidHeaders: [],
  groupHeaders: ['X-Remote-Group'],
  extraHeaderPrefixes: ['X-Remote-Extra-'],
};
const clientOnly: ClientTrust = { clientCaPem: authorityPem, requestHeader: undefined };
const both = { clientCaPem: authorityPem, requestHeader };

it.each<[string, Record<string, string>, ClientTrust, Record<string, string>]>([
  ['the client CA alone', {}, clientOnly, { 'client-ca-file': authorityPem }],
  ['nothing without a client CA', {}, { clientCaPem: '', requestHeader: undefined }, {}],
  [
    'the requestheader settings',
    {},
    both,
    {
      'client-ca-file': authorityPem,
      'requestheader-client-ca-file': authorityPem,
      'requestheader-allowed-names': '["proxy"]',
      'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
      'requestheader-group-headers': '["X-Remote-Group"]',
      'requestheader-uid-headers': '[]',
      'requestheader-username-headers': '["X-Remote-User"]',
    },
  ],
  [
    'the settings of other servers, too',
    {
      'client-ca-file': leafPem,
      'requestheader-client-ca-file': leafPem,
      'requestheader-allowed-names': '["front","proxy"]',
      'requestheader-uid-headers': '["X-Uid"]',
      'requestheader-username-headers': 'no list',
    },
    both,
    {
      'client-ca-file': leafPem + authorityPem,
      'requestheader-client-ca-file': leafPem + authorityPem,
      'requestheader-allowed-names': '["front","proxy"]',
      'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
      'requestheader-group-headers': '["X-Remote-Group"]',
      'requestheader-uid-headers': '["X-Uid"]',
      'requestheader-username-headers': '["X-Remote-User"]',
    },
  ],
  ['a certificate once', { 'client-ca-file': authorityPem + authorityPem }, clientOnly, { 'client-ca-file': authorityPem }],
  ['no text other than certificates', { 'client-ca-file': 'damaged' }, clientOnly, { 'client-ca-file': authorityPem }],
])('publishes %s', (_what, before, own, want) => expect(combinedTrust(before, own, nowMs)).toEqual(want)); // prettier-ignore

it('removes expired certificates', () =>
  expect(combinedTrust({ 'client-ca-file': leafPem }, clientOnly, nowMs + 86_400_000)).toEqual({
    'client-ca-file': authorityPem,
  }));

it('data that kube-apiserver has written with the same settings stays the same', () => {
  const theirs = {
    'client-ca-file': authorityPem,
    'requestheader-client-ca-file': authorityPem,
    'requestheader-allowed-names': String.raw`["a\u0026b","proxy"]`,
    'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
    'requestheader-group-headers': '["X-Remote-Group"]',
    'requestheader-uid-headers': '[]',
    'requestheader-username-headers': '["X-Remote-User"]',
  };
  expect(combinedTrust(theirs, both, nowMs)).toEqual(theirs);
  expect(combinedTrust({}, { ...both, requestHeader: { ...requestHeader, allowedNames: ['a&b', 'proxy'] } }, nowMs)).toEqual(theirs);
}); // prettier-ignore

it('settings of others that leave no room for those of this server are removed', () => {
  const names = JSON.stringify(['x'.repeat(1024 * 1024)]);
  const before = { 'requestheader-client-ca-file': authorityPem, 'requestheader-allowed-names': names };
  expect(trustData(before, both, nowMs)).toEqual(combinedTrust({}, both, nowMs));
});
