import { mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ManualClock } from '../std/clock.js';
import { ClientError } from './client-error.js';
import { LiveContent } from './live-content.js';
import { loadKubeconfig } from './load-kubeconfig.js';

let directory: string;
let file: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'keelson-kubeconfig-'));
  file = join(directory, 'config');
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

interface Parts {
  readonly cluster?: unknown;
  readonly user?: unknown;
  readonly context?: unknown;
  readonly more?: Record<string, unknown>;
}

const document = ({ cluster, user, context, more }: Parts = {}) => ({
  apiVersion: 'v1',
  kind: 'Config',
  'current-context': 'here',
  clusters: [{ name: 'c', cluster: cluster ?? { server: 'https://127.0.0.1:6443' } }],
  contexts: [
    { name: 'here', context: context ?? { cluster: 'c', user: 'u', namespace: 'team' } },
    { name: 'other', context: { cluster: 'c', user: 'gone' } },
  ],
  users: [{ name: 'u', user: user ?? { token: 'secret-token' } }],
  ...more,
});
const load = (content: unknown, options: { context?: string } = {}) => {
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return loadKubeconfig({ file, ...options });
};
const server = 'https://127.0.0.1:6443';
const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'aws', interactiveMode: 'Never' };

describe('a context of a kubeconfig', () => {
  it('has its cluster, user and namespace', async () => {
    const found = await load(document());
    expect(found).toMatchObject({ context: 'here', namespace: 'team', user: { token: 'secret-token' } });
    expect(found.cluster.server.href).toBe('https://127.0.0.1:6443/');
  });

  it('without a user is anonymous', async () => {
    const { user } = await load(document({ context: { cluster: 'c' } }));
    expect(user).toEqual({ impersonation: {} });
  });

  it('is not affected by unsupported entries of other contexts', async () => {
    const users = [
      { name: 'u', user: {} },
      { name: 'old', user: { 'auth-provider': { name: 'gcp' } } },
    ];
    await expect(load(document({ more: { users } }))).resolves.toMatchObject({ context: 'here' });
  });

  it('has paths relative to the directory of the file', async () => {
    const { cluster, user } = await load(
      document({
        cluster: { server, 'certificate-authority': 'ca.crt' },
        user: {
          'client-certificate': 'a/b.crt',
          'client-key': '/k',
          tokenFile: './t',
          exec: { ...exec, command: './p' },
        },
      }),
    );
    expect(cluster.certificateAuthority).toEqual({ file: join(directory, 'ca.crt') });
    expect(user.clientCertificate).toEqual({ certificate: { file: join(directory, 'a/b.crt') }, key: { file: '/k' } });
    expect([user.tokenFile, user.plugin?.command]).toEqual([join(directory, 't'), join(directory, 'p')]);
  });

  it('prefers data to files', async () => {
    const data = Buffer.from('PEM').toString('base64');
    const { cluster } = await load(
      document({ cluster: { server, 'certificate-authority': 'x', 'certificate-authority-data': data } }),
    );
    expect(cluster.certificateAuthority).toEqual({ data: Buffer.from('PEM') });
  });

  it('has the headers of impersonation', async () => {
    const user = { as: 'jäne', 'as-uid': '7', 'as-groups': ['a', 'b'], 'as-user-extra': { 'Some/Scope': ['x'] } };
    const { impersonation } = (await load(document({ user }))).user;
    expect(impersonation).toEqual({
      'Impersonate-User': Buffer.from('jäne').toString('latin1'),
      'Impersonate-Uid': '7',
      'Impersonate-Group': ['a', 'b'],
      'Impersonate-Extra-some%2Fscope': ['x'],
    });
  });

  it('in YAML with names of prototypes is an ordinary one', async () => {
    const yaml = [
      'current-context: constructor',
      `clusters: [{name: toString, cluster: {server: '${server}'}}]`,
      'contexts: [{name: constructor, context: {cluster: toString, user: valueOf}}]',
      'users: [{name: valueOf, user: {}}]',
    ].join('\n');
    expect((await load(yaml)).context).toBe('constructor');
  });
});

const pair = { 'client-certificate': 'c', 'client-key': 'k' };
const refused: readonly { name: string; content: unknown; problem: RegExp; context?: string }[] = [
  { name: 'unknown current-context', content: document(), context: 'x', problem: /no context "x"; .*\(here, other\)$/ },
  {
    name: 'missing current-context',
    content: document({ more: { 'current-context': null } }),
    problem: /current-context is not set; set it, or choose a context \(here, other\)$/,
  },
  { name: 'unknown user', content: document(), context: 'other', problem: /user must be one of users \(u\)$/ },
  { name: 'unknown cluster', content: document({ context: { cluster: 'x' } }), problem: /one of clusters \(c\)$/ },
  { name: 'missing server', content: document({ cluster: {} }), problem: /\.server is required$/ },
  { name: 'server without scheme', content: document({ cluster: { server: 'a:1' } }), problem: /must be a URL/ },
  {
    name: 'server with credentials',
    content: document({ cluster: { server: 'https://u:pw@h' } }),
    problem: /user name/,
  },
  {
    name: 'proxy-url',
    content: document({ cluster: { server, 'proxy-url': 'http://p' } }),
    problem: /without a proxy$/,
  },
  { name: 'username', content: document({ user: { username: 'a', password: 'pw' } }), problem: /username is not supp/ },
  {
    name: 'password',
    content: document({ user: { password: 'pw' } }),
    problem: /user\.password is not supported; use/,
  },
  {
    name: 'auth-provider',
    content: document({ user: { 'auth-provider': { name: 'oidc' } } }),
    problem: /auth-provider is/,
  },
  {
    name: 'CA and insecure-skip-tls-verify',
    content: document({ cluster: { server, 'certificate-authority': 'x', 'insecure-skip-tls-verify': true } }),
    problem: /remove one of them$/,
  },
  {
    name: 'key without certificate',
    content: document({ user: { 'client-key': 'k' } }),
    problem: /client-certificate is req/,
  },
  {
    name: 'certificate without key',
    content: document({ user: { 'client-certificate': 'c' } }),
    problem: /client-key is req/,
  },
  {
    name: 'data not in base64',
    content: document({ user: { ...pair, 'client-key-data': '%%secret' } }),
    problem: /client-key-data must be in base64$/,
  },
  {
    name: 'token that is a number',
    content: document({ user: { token: 12 } }),
    problem: /token must be a string; put it/,
  },
  { name: 'token of two lines', content: document({ user: { token: 'secret\nx' } }), problem: /copy it again$/ },
  {
    name: 'truth value as a string',
    content: document({ cluster: { server, 'insecure-skip-tls-verify': 'no' } }),
    problem: /true or/,
  },
  {
    name: 'clusters that are a mapping',
    content: document({ more: { clusters: {} } }),
    problem: /clusters must be a list$/,
  },
  { name: 'user that is a list', content: document({ user: [] }), problem: /users\[0\]\.user must be a mapping$/ },
  { name: 'groups without a user', content: document({ user: { 'as-groups': ['x'] } }), problem: /\.as is required/ },
  { name: 'another kind', content: document({ more: { kind: 'Pod' } }), problem: /kind must be Config$/ },
  {
    name: 'two clusters of one name',
    content: document({ more: { clusters: [0, 0].map(() => ({ name: 'c', cluster: {} })) } }),
    problem: /"c" is used twice/,
  },
  {
    name: 'duplicate keys',
    content: 'users: []\nusers: []\n',
    problem: /remove duplicate keys: .*"users" already set/s,
  },
  {
    name: '__proto__',
    content: '{"users": [], "__proto__": {"current-context": "a"}}',
    problem: /"__proto__" is not allowed|__proto__/,
  },
  { name: 'an empty file', content: '', problem: /it is empty$/ },
  { name: 'binary content', content: '\u0000\u0001', problem: /not valid YAML/ },
  { name: 'a list', content: '[]', problem: /the document must be a mapping$/ },
  { name: 'more than 3 MiB', content: `a: ${'x'.repeat(3 * 1024 * 1024)}`, problem: /larger than 3145728 bytes$/ },
  { name: '3 MiB of values', content: `users: [${'a,'.repeat(1_500_000)}]`, problem: /not valid YAML/ },
  {
    name: 'aliases of aliases',
    content: `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefghi'.replace(/./g, (c) => `${c}: &${c} [${`*${String.fromCharCode(c.charCodeAt(0) - 1)},`.repeat(9)}]\n`)}`,
    problem: /not valid YAML/,
  },
];

describe('a kubeconfig is refused, with its path and without its secrets', () => {
  it.each(refused)('$name', async ({ content, problem, context }) => {
    const error = await load(content, context === undefined ? {} : { context }).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(ClientError);
    const { message, cause, code } = error as ClientError;
    expect(message).toMatch(problem);
    expect(message.startsWith(`kubeconfig ${file}`)).toBe(true);
    expect(`${message} ${String(cause)}`).not.toMatch(/secret|pw/);
    expect(code).toBe('Kubeconfig');
  });

  it('a missing file', async () => {
    await expect(loadKubeconfig({ file: '/no/such' })).rejects.toThrow(
      '/no/such cannot be read: there is no such file',
    );
  });
});

describe('a file that a kubeconfig names', () => {
  it('is read again when it has changed, at most once a second', async () => {
    const clock = new ManualClock();
    const token = join(directory, 'token');
    writeFileSync(token, 'one');
    const content = new LiveContent({ file: token }, 'token file', clock);
    const text = async () => (await content.read()).toString();
    expect(await text()).toBe('one');
    writeFileSync(token, 'two!');
    expect(await text()).toBe('one');
    clock.advance(1_000);
    expect(await text()).toBe('two!');
    writeFileSync(token, 'three');
    content.expire();
    expect(await text()).toBe('three');
  });

  it('keeps its last content while it is missing', async () => {
    const clock = new ManualClock();
    const token = join(directory, 'token-gone');
    writeFileSync(token, 'one');
    const content = new LiveContent({ file: token }, 'token file', clock);
    await content.read();
    const { mtime } = statSync(token);
    rmSync(token);
    clock.advance(1_000);
    expect((await content.read()).toString()).toBe('one');
    writeFileSync(token, 'two');
    utimesSync(token, mtime, mtime);
    clock.advance(1_000);
    expect((await content.read()).toString()).toBe('two');
  });

  it('is refused if it is missing at first', async () => {
    const content = new LiveContent({ file: '/no/such' }, 'token file /no/such', new ManualClock());
    await expect(content.read()).rejects.toThrow('token file /no/such cannot be read: there is no such file');
  });
});
