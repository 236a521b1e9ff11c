import { getCiphers } from 'node:tls';
import { load } from 'js-yaml';
import { cipherSuiteNames } from '../config/tls-names.js';
import { kubeconfig } from './kubeconfig.js';
import { servingNames } from './serving-names.js';
import { opensslCiphers, tlsVersionOf } from './tls-names.js';

describe('TLS names', () => {
  it('OpenSSL supports every listed cipher suite', () => {
    const known = new Set(getCiphers().map((name) => name.toUpperCase()));
    const unknown = cipherSuiteNames.map((name) => opensslCiphers([name])).filter((name) => !known.has(name));
    expect(unknown).toEqual([]);
  });

  it('translates cipher suites in order, without duplicates', () => {
    const names = ['TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305', 'TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256'];
    expect(opensslCiphers([...names, 'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256'])).toBe(
      'ECDHE-RSA-CHACHA20-POLY1305:ECDHE-RSA-AES128-GCM-SHA256',
    );
    expect(tlsVersionOf('VersionTLS13')).toBe('TLSv1.3');
  });

  it('unknown names are an error that lists the allowed ones', () => {
    expect(() => tlsVersionOf('VersionTLS10')).toThrow(
      'unknown TLS version "VersionTLS10", allowed are: VersionTLS12, VersionTLS13',
    );
    expect(() => tlsVersionOf('constructor')).toThrow('unknown TLS version');
    expect(() => opensslCiphers(['TLS_RSA_WITH_RC4_128_SHA', 'x'])).toThrow(
      /unknown cipher suites "TLS_RSA_WITH_RC4_128_SHA", "x", allowed are: TLS_AES_128_GCM_SHA256, /,
    );
  });
});

describe('serving names', () => {
  it.each<[string, string[], { dns?: string[]; ip?: string[]; refused?: string[] }]>([
    ['a name', ['Api.Example.'], { dns: ['api.example'] }],
    ['a wildcard', ['*.example'], { dns: ['*.example'] }],
    ['an address among the names', ['192.0.2.1', '2001:db8::1'], { ip: ['192.0.2.1', '2001:db8::1'] }],
    ['one form of an address', ['2001:DB8:0::1', '64:ff9b::192.0.2.1'], { ip: ['2001:db8::1', '64:ff9b::c000:201'] }],
    ['a name in other letters', ['bücher.example'], { dns: ['xn--bcher-kva.example'] }],
    ['an underscore, as host names have', ['my_host'], { dns: ['my_host'] }],
    ['every address', ['0.0.0.0', '::', ''], {}],
    [
      'what cannot be a name',
      ['a b', 'fe80::1%eth0', '-x', '1.2.3.4.5:6', ':a', '1:2'],
      { refused: ['a b', 'fe80::1%eth0', '-x', '1.2.3.4.5:6', ':a', '1:2'] },
    ],
    ['a repeated name', ['localhost', '::1'], {}],
  ])('%s', (_name, hostNames, want) => {
    const base = servingNames({});
    const names = servingNames({ hostNames });
    expect({
      dns: names.dns.slice(base.dns.length),
      ip: names.ip.slice(base.ip.length),
      refused: names.refused,
    }).toEqual({ dns: [], ip: [], refused: [], ...want });
  });
});

describe('kubeconfig', () => {
  it('is YAML with the given names, server and credentials', () => {
    const text = kubeconfig({
      server: 'https://[::1]:6443',
      certificateAuthority: 'CA',
      user: { token: "it's: #1" },
      name: 'two words',
    });
    expect(load(text)).toEqual({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [
        { name: 'two words', cluster: { 'certificate-authority-data': 'Q0E=', server: 'https://[::1]:6443' } },
      ],
      contexts: [{ name: 'two words', context: { cluster: 'two words', user: 'two words' } }],
      'current-context': 'two words',
      users: [{ name: 'two words', user: { token: "it's: #1" } }],
    });
  });

  it('rejects line breaks', () => {
    const user = { token: 'a\nb' };
    expect(() => kubeconfig({ server: 'https://x', certificateAuthority: '', user })).toThrow('control characters');
  });
});
