import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { findKubectls, howToGetKubectl } from '../../scripts/kubectl/kubectl.js';
import { killedAtExit } from '../../scripts/killed-at-exit.js';
import { packageRoot } from '../../src/config/config-files.js';
import { eventually } from './eventually.js';

const kubectls = findKubectls(packageRoot);
const script = ['/usr/bin/script', '/bin/script'].find((path) => existsSync(path));

/** False, and the reason is printed, if there is no kubectl: streams are not tested then. */
export const hasKubectl = kubectls.length > 0;
if (!hasKubectl) process.stderr.write(`skipped: streams of kubectl: ${howToGetKubectl}\n`);
if (!script) process.stderr.write('skipped: terminals of kubectl: install util-linux\n');

type Child = ReturnType<typeof startProgram>;

/** Starts commands of one kubectl. */
interface KubectlCommands {
  readonly start: (words: readonly string[]) => Child;
  readonly run: (words: readonly string[], input?: string) => ReturnType<typeof outcome>;
}

function startProgram(program: string, words: readonly string[]) {
  return killedAtExit(spawn(program, words, { stdio: ['pipe', 'pipe', 'pipe'] }));
}

async function outcome(child: Child, input = '') {
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit') as Promise<[number]>,
  ]);
  return { stdout, stderr, code };
}

/** The output of a program, which grows. */
export function outputOf(child: Child): () => string {
  let output = '';
  child.stdout.on('data', (part: Buffer) => {
    output += part.toString();
  });
  return () => output;
}

/**
 * Tests exec, attach, port-forward and cp of each kubectl on the Pod `pod` of `default`, whose commands run on this machine,
 * and then what `more` adds.
 */
export function describeKubectls(kubeconfig: () => string, more: (kubectl: KubectlCommands) => void): void {
  if (!hasKubectl) describe.skip('kubectl of no version', () => it('has no streams', () => undefined));
  else describe.each(kubectls)('kubectl $version', ({ path }) => streamsOf(path, kubeconfig, more));
}

function streamsOf(path: string, kubeconfig: () => string, more: (kubectl: KubectlCommands) => void): void {
  const directory = mkdtempSync(join(tmpdir(), 'kubectl-streams-'));
  const web = createServer((request, response) => request.pipe(response));
  beforeAll(async () => {
    web.listen(0, '127.0.0.1');
    await once(web, 'listening');
  });
  afterAll(() => {
    web.close();
    web.closeAllConnections();
    rmSync(directory, { recursive: true, force: true });
  });
  const words = (...rest: string[]) => [
    `--kubeconfig=${kubeconfig()}`,
    `--cache-dir=${join(directory, 'cache')}`,
    ...rest,
  ];
  const start = (rest: readonly string[]) => startProgram(path, words(...rest));
  const run = (rest: readonly string[], input?: string) => outcome(start(rest), input);

  it('exec gets the output, the errors and the exit code', async () => {
    const { stdout, stderr, code } = await run(['exec', 'pod', '--', 'sh', '-c', 'echo out; echo err >&2; exit 4']);
    expect({ stdout, code }).toEqual({ stdout: 'out\n', code: 4 });
    expect(stderr).toContain('err\n');
  });

  it('exec -i sends input until its end', async () => {
    const input = 'line of input\n'.repeat(100_000);
    const { stdout, code } = await run(['exec', '-i', 'pod', '--', 'cat'], input);
    expect({ isEqual: stdout === input, code }).toEqual({ isEqual: true, code: 0 });
  });

  (script ? it : it.skip)('exec -it has a terminal of the size of its own', async () => {
    const inner = words('exec', '-it', 'pod', '--', 'sh', '-c', '"stty size; tty; read line; echo got \\$line"');
    const child = startProgram(script!, ['-qefc', `stty rows 33 cols 99; ${[path, ...inner].join(' ')}`, '/dev/null']);
    const output = outputOf(child);
    await eventually('the terminal is open', () => output().includes('/dev/'));
    child.stdin.write('typed\r');
    await once(child, 'exit');
    expect(output()).toContain('33 99');
    expect(output()).toContain('got typed');
  });

  it('attach reaches the main process of a container', async () => {
    const { stdout } = await run(['attach', '-i', 'pod'], 'hello\n');
    expect(stdout).toContain('attached: hello');
  });

  it('port-forward carries requests', async () => {
    const { port } = web.address() as AddressInfo;
    const child = start(['port-forward', 'pod', `:${port}`]);
    const output = outputOf(child);
    await eventually('the port is open', () => /Forwarding from 127\.0\.0\.1:\d+/.test(output()));
    const local = /127\.0\.0\.1:(\d+)/.exec(output())![1];
    const bodies = Array.from({ length: 10 }, (_, i) => `${i}`.repeat(200_000));
    const answers = await Promise.all(
      bodies.map(async (body) => (await fetch(`http://127.0.0.1:${local}/`, { method: 'POST', body })).text()),
    );
    expect(answers.map((answer, i) => answer === bodies[i])).toEqual(Array<boolean>(10).fill(true));
    child.kill();
    await once(child, 'exit');
  });

  it('cp copies a file in both directions', async () => {
    const [source, remote, back] = ['source', 'remote', 'back'].map((name) => join(directory, name));
    writeFileSync(source!, Buffer.alloc(3_000_000, 'bytes of a file'));
    expect(await run(['cp', source!, `pod:${remote}`])).toMatchObject({ code: 0 });
    expect(readFileSync(remote!).equals(readFileSync(source!))).toBe(true);
    expect(await run(['cp', `pod:${remote}`, back!])).toMatchObject({ code: 0 });
    expect(readFileSync(back!).equals(readFileSync(source!))).toBe(true);
    for (const file of [source, remote, back]) rmSync(file!);
  });

  more({ start, run });
}
