import { redact, redactText } from './redact.js';

const pem = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n';
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';
const token = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0xMjM0.c2lnbmF0dXJl';

describe('redact()', () => {
  it.each([
    [
      'data and stringData of a Secret',
      { kind: 'Secret', data: { a: 'aHVudGVyMg==' }, stringData: { b: 'hunter2' } },
      { kind: 'Secret', data: { a: 'UkVEQUNURUQ=' }, stringData: { b: 'REDACTED' } },
    ],
    [
      'items of a SecretList, which have no kind',
      { kind: 'SecretList', items: [{ data: { a: 'eA==' } }] },
      { kind: 'SecretList', items: [{ data: { a: 'UkVEQUNURUQ=' } }] },
    ],
    [
      'the object of a watch event',
      { type: 'ADDED', object: { kind: 'Secret', data: { a: 'eA==' } } },
      { type: 'ADDED', object: { kind: 'Secret', data: { a: 'UkVEQUNURUQ=' } } },
    ],
    [
      'the last applied configuration of a Secret',
      {
        metadata: {
          annotations: {
            'kubectl.kubernetes.io/last-applied-configuration': '{"kind":"Secret","data":{"a":"eA=="}}',
          },
        },
      },
      {
        metadata: {
          annotations: {
            'kubectl.kubernetes.io/last-applied-configuration': '{"kind":"Secret","data":{"a":"UkVEQUNURUQ="}}',
          },
        },
      },
    ],
    [
      'the last applied configuration as the value of a patch',
      [
        {
          op: 'add',
          path: `/metadata/annotations/${lastApplied.replace('/', '~1')}`,
          value: '{"kind":"Secret","data":{"a":"eA=="}}',
        },
      ],
      [
        {
          op: 'add',
          path: `/metadata/annotations/${lastApplied.replace('/', '~1')}`,
          value: '{"kind":"Secret","data":{"a":"UkVEQUNURUQ="}}',
        },
      ],
    ],
    [
      'a token as the value of a patch',
      [{ op: 'replace', path: '/spec/token', value: 'abc' }],
      [{ op: 'replace', path: '/spec/token', value: 'REDACTED' }],
    ],
    [
      'fields whose names end with token, access key or signing secret',
      { authToken: 'x', AWS_SECRET_ACCESS_KEY: 'y', signingSecret: 'z', secretName: 'kept' },
      { authToken: 'REDACTED', AWS_SECRET_ACCESS_KEY: 'REDACTED', signingSecret: 'REDACTED', secretName: 'kept' },
    ],
    [
      'keys of a kubeconfig in a ConfigMap',
      { data: { config: `user:\n  client-key-data: ${Buffer.from(pem).toString('base64')}\n  name: a` } },
      { data: { config: 'user:\n  client-key-data: UkVEQUNURUQ=\n  name: a' } },
    ],
    ['a ConfigMap, which is not confidential', { kind: 'ConfigMap', data: { a: 'x' } }, undefined],
    ['a token', { status: { token: 'abc' } }, { status: { token: 'REDACTED' } }],
    ['a token in any field', { a: `Bearer ${token}.` }, { a: 'Bearer REDACTED.' }],
    ['a certificate', { data: { 'ca.crt': pem } }, { data: { 'ca.crt': 'REDACTED' } }],
    ['a certificate in base64', { x: Buffer.from(pem).toString('base64') }, { x: 'UkVEQUNURUQ=' }],
    ['a password', { auth: { password: 'x', user: 'a' } }, { auth: { password: 'REDACTED', user: 'a' } }],
    [
      'variables of containers',
      {
        env: [
          { name: 'DB_PASSWORD', value: 'x' },
          { name: 'COLOUR', value: 'red' },
        ],
      },
      {
        env: [
          { name: 'DB_PASSWORD', value: 'REDACTED' },
          { name: 'COLOUR', value: 'red' },
        ],
      },
    ],
    [
      'arguments of a container',
      {
        args: ['--token=abc', '--password', 'x', '--token-file=/t', '-v', '--secret', '--all'],
        command: ['sh', '-c', 'db --db-password "a b" -q; db -api-key=-x --name=y'],
      },
      {
        args: ['--token=REDACTED', '--password', 'REDACTED', '--token-file=/t', '-v', '--secret', '--all'],
        command: ['sh', '-c', 'db --db-password REDACTED -q; db -api-key=REDACTED --name=y'],
      },
    ],
    ['a schema with a property of such a name', { properties: { token: { type: 'string' } } }, undefined],
  ])('%s', (_title, value, expected) => {
    expect(redact(value, { isSecret: false }).value).toEqual(expected ?? value);
  });

  it.each([
    ['merge patch', { data: { a: 'eA==', gone: null } }, { data: { a: 'UkVEQUNURUQ=', gone: null } }],
    [
      'JSON patch',
      [
        { op: 'add', path: '/stringData/a', value: 'x' },
        { op: 'replace', path: '/data', value: { a: 'eA==' } },
      ],
      [
        { op: 'add', path: '/stringData/a', value: 'REDACTED' },
        { op: 'replace', path: '/data', value: { a: 'UkVEQUNURUQ=' } },
      ],
    ],
  ])('a %s of the resource secrets', (_title, value, expected) => {
    expect(redact(value, { isSecret: true }).value).toEqual(expected);
  });

  it('says when a server would miss what is hidden', () => {
    const lacks = (value: object) => redact(value as never, { isSecret: false }).lacksCredential;
    expect(lacks({ spec: { token: 'abc' } })).toBe(true);
    expect(lacks({ caBundle: Buffer.from(pem).toString('base64') })).toBe(true);
    expect(lacks({ kind: 'Secret', data: { a: 'eA==' } })).toBe(false);
    expect(lacks({ args: ['--token=abc'] })).toBe(false);
  });

  it('hides keys and tokens in texts, in linear time', () => {
    expect(redactText(`a ${token} b\n${pem}`)).toBe('a REDACTED b\nREDACTED');
    expect(redactText(`a.${token}.${token}, --x-${token}`)).toBe('a.REDACTED.REDACTED, --x-REDACTED');
    expect(redactText('eyJhbGciOiJSUzI1NiJ9.short.c2lnbmF0dXJl')).toBe('eyJhbGciOiJSUzI1NiJ9.short.c2lnbmF0dXJl');
    for (const part of [
      '-----BEGIN ',
      'eyJ',
      '-eyJ',
      'eyJaaaaaaaa.',
      'eyJaaaaaaaa-',
      'a.',
      'LS0tLS1CRUdJTi',
      '-',
      '--a',
      '--a ',
      '--token="',
    ]) {
      expect(redactText(part.repeat(300_000)).length).toBeGreaterThan(0);
    }
  });
});
