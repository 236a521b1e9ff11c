import { main, type Program } from './main.js';

async function run(program: Program, words: string[]) {
  const printed = { out: '', err: '' };
  const streams = { out: process.stdout, err: process.stderr };
  const spies = (['out', 'err'] as const).map((name) =>
    jest.spyOn(streams[name], 'write').mockImplementation((chunk) => {
      printed[name] += String(chunk);
      return true;
    }),
  );
  try {
    return { code: await main(program, words), ...printed };
  } finally {
    spies.forEach((spy) => spy.mockRestore());
  }
}

test.each<{ program: Program; words: string[]; code: number; out?: RegExp; err?: RegExp }>([
  { program: 'keelson', words: ['version'], code: 0, out: /^keelson \d+\.\d+\.\d+ \(API v1\.\d+/ },
  { program: 'keelson', words: ['--version'], code: 0, out: /^keelson \d/ },
  { program: 'keelson', words: ['--help'], code: 0, out: /serve/ },
  {
    program: 'keelson',
    words: ['serve', '--help'],
    code: 0,
    out: /Storage:[^]*--data-dir <path>[^]*default \.keelson/,
  },
  { program: 'keelson', words: ['serve', '--secure-port', '1', '-h'], code: 0, out: /--authorization-mode/ },
  { program: 'keelson', words: ['--help'], code: 0, out: /check [^]*read every object in etcd/ },
  {
    program: 'keelson',
    words: ['check', '--help'],
    code: 0,
    out: /--all[^]*-o, --output[^]*--etcd-cafile <path>[^]*--etcd-servers[^]*Exit code:[^]*2 {2}wrong usage/,
  },
  {
    program: 'keelson',
    words: ['check', '--data-dir', '/nowhere'],
    code: 2,
    err: /^keelson check: --data-dir: .* holds no store: give the --data-dir of a server, or --etcd-servers URL\[,URL\]\n$/,
  },
  {
    program: 'keelson',
    words: ['explain-access', '--help'],
    code: 0,
    out: /--as <user>[^]*--subresource[^]*Exit code:/,
  },
  {
    program: 'keelson',
    words: ['explain-access', '--as', 'ann', '--nope'],
    code: 2,
    err: /unknown option '--nope'/,
  },
  { program: 'keelson', words: ['history', 'get', '--help'], code: 0, out: /--audit-log <path>[^]*Exit code:/ },
  { program: 'keelson', words: ['snapshot', 'restore', '--help'], code: 0, out: /--yes[^]*Exit code:/ },
  { program: 'keelson', words: ['fork', '--help'], code: 0, out: /--to <path>[^]*--at <resourceVersion>/ },
  { program: 'keelson', words: ['import', '--help'], code: 0, out: /--on-conflict <policy>[^]*Exit code:/ },
  { program: 'keelson', words: ['export', '--help'], code: 0, out: /--all-namespaces[^]*-o, --output/ },
  { program: 'keelson', words: ['agent', '--help'], code: 0, out: /Agent:[^]*--root-dir <path>[^]*Node:/ },
  {
    program: 'keelson',
    words: ['agent', '--nope'],
    code: 1,
    err: /^keelson agent: --nope: unknown flag\nkeelson agent: not started; see keelson agent --help\n$/,
  },
  { program: 'keelson', words: [], code: 1, err: /Usage: keelson/ },
  { program: 'keelson', words: ['serv'], code: 1, err: /Did you mean serve/ },
  {
    program: 'keelson',
    words: ['serve', '--nope'],
    code: 1,
    err: /^keelson: --nope: unknown flag\nkeelson: not started/,
  },
  { program: 'keelson', words: ['serve', 'serve'], code: 1, err: /unexpected argument "serve"/ },
  { program: 'kube-apiserver', words: ['--version'], code: 0, out: /^Kubernetes v1\.\d+\.\d+\S*\n$/ },
  { program: 'kube-apiserver', words: ['--help'], code: 0, out: /default AlwaysAllow/ },
  { program: 'kube-apiserver', words: [], code: 1, err: /^kube-apiserver: --etcd-servers: must be given/ },
])('$program $words', async ({ program, words, code, out, err }) => {
  const done = await run(program, words);
  expect(done.code).toBe(code);
  expect(done.out).toMatch(out ?? /^$/);
  expect(done.err).toMatch(err ?? /^$/);
});
