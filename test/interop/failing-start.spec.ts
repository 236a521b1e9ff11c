import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { killedAtExit } from '../../scripts/killed-at-exit.js';
import { keyPem, makeAuthority, makeKey } from '../../src/certificates/authority.js';
import { packageRoot } from '../../src/config/config-files.js';
import { runCommand, type CommandOptions } from '../harness/command-run.js';

// A failed start prints one line that says what to do, and exits with code 1: no stack, no log before it.

let root: string;
let taken: Server;
let port: number;
beforeAll(async () => {
  taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  ({ port } = taken.address() as AddressInfo);
});
afterAll(() => taken.close());
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'failing-start-'));
  chmodSync(root, 0o755);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const put = (name: string, text: string) => writeFileSync(join(root, name), text, { mode: 0o600 });
const folder = (name: string) => mkdirSync(join(root, name), { recursive: true, mode: 0o700 });
const pair = ['--tls-cert-file=a.crt', '--tls-private-key-file=a.key'];
const webhookConfig = (user: Record<string, string>) =>
  JSON.stringify({
    'current-context': 'here',
    contexts: [{ name: 'here', context: { cluster: 'c', user: 'u' } }],
    clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:9/authenticate' } }],
    users: [{ name: 'u', user }],
  });

interface Row {
  readonly name: string;
  readonly words: () => readonly string[];
  readonly line: RegExp;
  readonly prepare?: () => Promise<void> | void;
  readonly options?: Partial<CommandOptions>;
  readonly needsRoot?: boolean;
}

const rows: Row[] = [
  {
    name: 'a port in use',
    words: () => [`--secure-port=${port}`],
    line: /127\.0\.0\.1:\d+ is in use by another process: stop it, or give another --secure-port$/,
  },
  {
    name: 'a port in use, with HTTP/1.1 only',
    words: () => [`--secure-port=${port}`, '--disable-http2-serving'],
    line: /is in use by another process/,
  },
  {
    name: 'an address of another machine',
    words: () => ['--bind-address=192.0.2.77'],
    line: /192\.0\.2\.77 is not an address of this machine: give another --bind-address$/,
  },
  {
    name: 'no permission to write',
    words: () => ['--data-dir=locked/data'],
    prepare: () => {
      mkdirSync(join(root, 'locked'));
      chmodSync(join(root, 'locked'), 0o500);
    },
    options: { uid: 65_534 },
    needsRoot: true,
    line: /--data-dir: .*locked\/data.*EACCES.*: give a directory that this user can write to$/,
  },
  {
    name: 'a file instead of the data directory',
    words: () => ['--data-dir=file'],
    prepare: () => put('file', ''),
    line: /--data-dir: .*file.*: the path, or a part of it, is a file; give a directory$/,
  },
  {
    name: 'a file instead of the store directory',
    words: () => ['--data-dir=data'],
    prepare: () => {
      folder('data');
      put('data/store', '');
    },
    line: /--data-dir: .*data\/store.*: the path, or a part of it, is a file; give a directory$/,
  },
  {
    name: 'a data file of another program',
    words: () => ['--data-dir=data'],
    prepare: () => {
      folder('data/store');
      put('data/store/data.mdb', 'x'.repeat(9_000));
    },
    line: /data\/store\/data\.mdb is not a data file of this server, or is damaged/,
  },
  {
    name: 'an invalid certificate',
    words: () => pair,
    prepare: () => {
      put('a.crt', 'x');
      put('a.key', keyPem(makeKey()));
    },
    line: /--tls-cert-file: a\.crt holds no PEM certificate$/,
  },
  {
    name: 'the key of another certificate',
    words: () => pair,
    prepare: async () => {
      put('a.crt', await makeAuthority(makeKey(), Date.now()));
      put('a.key', keyPem(makeKey()));
    },
    line: /--tls-\S+: the key in a\.key does not belong to the first certificate in a\.crt$/,
  },
  { name: 'an absent certificate', words: () => pair, line: /--tls-\S+: .*a\.(crt|key).*no such file/ },
  {
    name: 'an absent client CA',
    words: () => ['--client-ca-file=ca.crt'],
    line: /--client-ca-file: .*ca\.crt.*no such file/,
  },
  {
    name: 'an absent token file',
    words: () => ['--token-auth-file=tokens.csv'],
    line: /--token-auth-file: tokens\.csv cannot be read: there is no such file$/,
  },
  {
    name: 'an absent kubeconfig of the token webhook',
    words: () => ['--authentication-token-webhook-config-file=webhook.conf'],
    line: /--authentication-token-webhook-config-file: kubeconfig \S*webhook\.conf cannot be read: there is no such file$/,
  },
  {
    name: 'a kubeconfig of the token webhook with a password',
    words: () => ['--authentication-token-webhook-config-file=webhook.conf'],
    prepare: () => put('webhook.conf', webhookConfig({ username: 'a', password: 'secret' })),
    line: /--authentication-token-webhook-config-file: kubeconfig \S*webhook\.conf: users\[0\]\.user\.username is not supported; use a token,/,
  },
  {
    name: 'a kubeconfig of the token webhook with an absent key',
    words: () => ['--authentication-token-webhook-config-file=webhook.conf'],
    prepare: () => put('webhook.conf', webhookConfig({ 'client-certificate': 'a.crt', 'client-key': 'a.key' })),
    line: /--authentication-token-webhook-config-file: client-\S+ \S+a\.(crt|key) of kubeconfig \S*webhook\.conf cannot be read: there is no such file$/,
  },
  {
    name: 'an absent service account key',
    words: () => ['--service-account-key-file=sa.pub'],
    line: /--service-account-key-file: sa\.pub cannot be read: there is no such file$/,
  },
  {
    name: 'an etcd that does not answer',
    words: () => ['--etcd-servers=http://127.0.0.1:9', '--storage-initialization-timeout=1s'],
    line: /etcd at http:\/\/127\.0\.0\.1:9: the store could not be read in 1 s; is it running, and are --etcd-servers,/,
  },
  {
    name: 'an existing kubeconfig of the user',
    words: () => ['--storage-backend=memory', '--kubeconfig-out=config'],
    prepare: () => put('config', 'apiVersion: v1\nclusters: []\n'),
    line: /config was not written by this server and is not overwritten: name another file with --kubeconfig-out/,
  },
  {
    name: 'an expired serving certificate in --cert-dir',
    words: () => ['--storage-backend=memory', '--cert-dir=certs'],
    prepare: async () => {
      folder('certs');
      const key = makeKey();
      put('certs/apiserver.crt', await makeAuthority(key, Date.now() - 3_700 * 86_400_000));
      put('certs/apiserver.key', keyPem(key));
    },
    line: /--cert-dir: certs\/apiserver\.crt expired at .*: replace it, or remove both/,
  },
];

test.each(rows)('$name: one line, exit code 1', async ({ words, line, prepare, options, needsRoot }) => {
  if (needsRoot && process.getuid?.() !== 0) return;
  await prepare?.();
  const run = await runCommand({ cwd: root, words: ['serve', '--secure-port=0', ...words()], ...options });
  expect([run.code, run.stdout]).toEqual([1, '']);
  const [first, ...further] = run.stderr.trimEnd().split('\n');
  expect(further).toEqual([]);
  expect(first).toMatch(/^keelson: the server did not start: /);
  expect(first).toMatch(line);
});

test.each([
  { name: 'does not exist', text: undefined, line: /^keelson: --config: c\.yaml cannot be read: ENOENT/ },
  { name: 'is not YAML', text: '{ a: [', line: /^keelson: --config: c\.yaml cannot be read: / },
  {
    name: 'has an unknown key',
    text: 'secure-prot: 1',
    line: /^keelson: c\.yaml: secure-prot: unknown flag; did you mean/,
  },
])('a --config file that $name: one line, exit code 1', async ({ text, line }) => {
  if (text !== undefined) put('c.yaml', text);
  const run = await runCommand({ cwd: root, words: ['serve', '--config=c.yaml'] });
  expect([run.code, run.stdout]).toEqual([1, '']);
  expect(run.stderr).toMatch(line);
  expect(run.stderr.trimEnd().split('\n').at(-1)).toBe('keelson: not started; see keelson serve --help');
});

test('a second process on one data directory is refused, and the first one and its data are unharmed', async () => {
  const words = ['serve', '--secure-port=0', '--data-dir=data'];
  const first = await runCommand({ cwd: root, words });
  expect(first.code).toBeUndefined();
  const refused = await Promise.all([1, 2].map(() => runCommand({ cwd: root, words })));
  for (const { code, stderr } of refused) {
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^keelson: the server did not start: .*data\/store is in use by the process with pid \d+; one process may use a directory at a time: stop it, or give another --data-dir\n$/,
    );
  }
  expect(await first.stop()).toBe(0);
  const next = await runCommand({ cwd: root, words });
  expect(next.code).toBeUndefined();
  expect(readFileSync(join(root, 'data/store/owner'), 'utf8')).toMatch(/^\d+\n/);
  await next.stop();
});

test('of concurrent processes on one empty data directory, exactly one serves', async () => {
  const words = ['serve', '--secure-port=0', '--data-dir=data'];
  const runs = await Promise.all([1, 2, 3].map(() => runCommand({ cwd: root, words })));
  const serving = runs.filter(({ code }) => code === undefined);
  expect(serving).toHaveLength(1);
  for (const { code, stderr } of runs)
    if (code !== undefined) expect([code, stderr]).toEqual([1, expect.stringContaining('is in use by')]);
  await serving[0]!.stop();
});

test('a server that is told to exit while it waits for etcd does so', async () => {
  const words = ['serve', '--secure-port=0', '--data-dir=data', `--etcd-servers=http://127.0.0.1:${port}`];
  const server = spawn(process.execPath, [join(packageRoot, 'bin/keelson'), ...words], { cwd: root, stdio: 'ignore' });
  killedAtExit(server);
  const exited = once(server, 'exit');
  // It connects when its handlers of signals are there.
  await once(taken, 'connection');
  server.kill('SIGTERM');
  expect(await exited).toEqual([0, null]);
});
