import {
  apiVersion,
  credential,
  directory,
  failureOf,
  installPlugin,
  prints,
  program,
  runs,
  source,
  type SourceOptions,
} from '../../test/harness/credential-plugins.js';

/** "Credential plugin" of the specification, with real processes. */
installPlugin();

describe('command, args, env, installHint', () => {
  it('command: a relative path is relative to the directory of the configuration file', async () => {
    prints(credential({ token: 'a' }));
    expect(await (await source()).get()).toMatchObject({ token: 'a', clientCertificate: undefined });
  });

  it('args and env are given to the plugin, whose environment is that of the client', async () => {
    prints(credential({ token: 'a' }));
    const env = [{ name: 'EXTRA', value: 'x y' }];
    await (await source({ args: ['$(a)', 'b c'], env })).get();
    expect(runs()).toEqual([
      {
        args: ['$(a)', 'b c'],
        extra: 'x y',
        hasHome: process.env['HOME'] !== undefined,
        stdin: '',
        info: expect.anything(),
      },
    ]);
  });

  it('installHint is shown when the executable is missing', async () => {
    const error = await failureOf({ command: 'keelson-no-such-plugin', installHint: 'Install it\nfrom here.' });
    expect(error.code).toBe('Credentials');
    expect(error.message).toBe(
      `no credentials for https://api.example:6443: credential plug-in keelson-no-such-plugin of kubeconfig ${directory}/config: ` +
        'the executable was not found; install it, or add its directory to PATH\n\nInstall it\nfrom here.',
    );
    expect((await failureOf({ command: './gone' })).message).toMatch(/was not found; correct command$/);
    expect((await failureOf({ command: './not-executable' })).message).toMatch(
      /may not be executed; make it executable$/,
    );
  });
});

describe('the ExecCredential that the plugin receives', () => {
  const inputOf = async (exec: Record<string, unknown>, options: SourceOptions = {}) => {
    prints({ ...credential({ token: 'a' }), apiVersion: exec['apiVersion'] ?? apiVersion });
    await (await source(exec, options)).get();
    return runs()[0]!;
  };

  it('has spec.interactive, and no cluster without provideClusterInfo', async () => {
    const { info } = await inputOf({});
    expect(JSON.parse(info!)).toEqual({ kind: 'ExecCredential', apiVersion, spec: { interactive: false } });
  });

  it('has spec.cluster with provideClusterInfo', async () => {
    const extensions = [{ name: 'client.authentication.k8s.io/exec', extension: { audience: ['x'] } }];
    const { info } = await inputOf({ provideClusterInfo: true }, { cluster: { extensions, 'tls-server-name': 'b' } });
    expect(JSON.parse(info!).spec.cluster).toEqual({
      server: 'https://api.example:6443',
      'tls-server-name': 'b',
      config: { audience: ['x'] },
    });
  });

  it('is in SVC_EXEC_INFO with the names of the profile svc', async () => {
    const { info, svcInfo } = await inputOf({}, { variable: 'SVC_EXEC_INFO' });
    expect([info, JSON.parse(svcInfo!).kind]).toEqual([undefined, 'ExecCredential']);
  });

  it('has the apiVersion of the configuration', async () => {
    const { info } = await inputOf({ apiVersion: 'client.authentication.k8s.io/v1beta1', interactiveMode: null });
    expect(JSON.parse(info!).apiVersion).toBe('client.authentication.k8s.io/v1beta1');
  });
});

describe('interactiveMode', () => {
  it('Always without interactive stdin: the plugin does not run and an error is returned', async () => {
    const error = await failureOf({ interactiveMode: 'Always' });
    expect(error.message).toMatch(/interactiveMode is Always and standard input is not a terminal; run this in a/);
    expect(runs()).toEqual([]);
  });

  it.each([
    ['Never', true, false],
    ['IfAvailable', false, false],
  ])('%s with a terminal: %s gives spec.interactive: %s', async (interactiveMode, hasTerminal, interactive) => {
    prints(credential({ token: 'a' }));
    await (await source({ interactiveMode }, { hasTerminal })).get();
    expect(JSON.parse(runs()[0]!.info!).spec).toEqual({ interactive });
  });
});

const pair = { clientCertificateData: 'CERT secret', clientKeyData: 'KEY secret' };
const outputs: readonly { name: string; output: unknown; problem: string }[] = [
  {
    name: 'apiVersion must match',
    output: { ...credential({ token: 'secret' }), apiVersion: 'client.authentication.k8s.io/v1beta1' },
    problem: `apiVersion must be ${apiVersion}, as in the kubeconfig`,
  },
  {
    name: 'another kind',
    output: { ...credential({ token: 'secret' }), kind: 'Pod' },
    problem: 'kind must be ExecCredential',
  },
  { name: 'no status', output: credential(null), problem: 'status is required' },
  {
    name: 'neither token nor certificate',
    output: credential({}),
    problem: 'status.token or clientCertificateData and',
  },
  {
    name: 'both clientCertificateData and clientKeyData must be present: no key',
    output: credential({ ...pair, clientKeyData: '' }),
    problem: 'status.clientKeyData is required, too',
  },
  {
    name: 'both clientCertificateData and clientKeyData must be present: no certificate',
    output: credential({ ...pair, clientCertificateData: null }),
    problem: 'status.clientCertificateData is required, too',
  },
  { name: 'token of a wrong type', output: credential({ token: 7 }), problem: 'status.token must be a string' },
  {
    name: 'token of two lines',
    output: credential({ token: 'secret\r\nX: y' }),
    problem: 'status.token contains characters',
  },
  {
    name: 'expirationTimestamp that is no time',
    output: credential({ token: 'secret', expirationTimestamp: '1' }),
    problem: 'status.expirationTimestamp must be a time',
  },
  { name: 'a list', output: [], problem: 'the document must be a mapping' },
];

describe('the output of the plugin', () => {
  it.each(outputs)('$name: refused without its credentials', async ({ output, problem }) => {
    prints(output);
    const error = await failureOf();
    expect(error.message).toContain(problem);
    expect(`${error.message} ${String(error.cause)}`).not.toContain('secret');
  });

  const programs: readonly { name: string; code: string; problem: RegExp; options?: SourceOptions }[] = [
    { name: 'nothing', code: '', problem: /its output is empty$/ },
    { name: 'text', code: 'console.log("secret")', problem: /its output is not JSON \((?!.*secret)/ },
    { name: 'prototype keys', code: `console.log('{"__proto__": {"kind": "ExecCredential"}}')`, problem: /not JSON/ },
    { name: 'more than 1 MiB', code: 'process.stdout.write("x".repeat(3e6))', problem: /has more than 1048576 bytes$/ },
    {
      name: 'a failure with a long standard error, of which the end is shown',
      code: `process.stderr.write('x'.repeat(5e4) + '\\u001b[2J not logged in\\n'); process.exitCode = 3`,
      problem: /: it ended with exit code 3: x{950,1000}\?\[2J not logged in$/,
    },
    { name: 'a signal', code: 'process.kill(process.pid, "SIGTERM")', problem: /: it was ended by SIGTERM$/ },
    {
      name: 'no end',
      code: 'console.error("waiting"); setInterval(() => {}, 1000)',
      problem: /: it did not end in 700 ms: waiting$/,
      options: { timeoutMs: 700 },
    },
  ];
  it.each(programs)('$name: refused', async ({ code, problem, options }) => {
    program(code);
    expect((await failureOf({}, options)).message).toMatch(problem);
  });

  it('standard error of a plugin that succeeds is logged', async () => {
    program(
      `console.error('please log in again soon'); console.log(JSON.stringify(${JSON.stringify(credential({ token: 'a' }))}))`,
    );
    const messages: string[] = [];
    await (await source({}, { messages })).get();
    expect(messages).toEqual(['please log in again soon']);
  });
});
