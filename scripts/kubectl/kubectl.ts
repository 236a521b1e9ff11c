import { spawn, spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, readdirSync, realpathSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { Step } from './step.js';

/** An installed kubectl. */
interface Kubectl {
  readonly path: string;
  /** `v1.33.1` */
  readonly version: string;
}

export const howToGetKubectl = 'put kubectl on PATH, or name one or several, separated by ":", in KEELSON_KUBECTL';

/** Finds the kubectls of KEELSON_KUBECTL, PATH and .cache/kubectl/. */
export function findKubectls(root: string): Kubectl[] {
  const cache = join(root, '.cache/kubectl');
  const paths = [
    ...(process.env['KEELSON_KUBECTL'] ?? '').split(':'),
    ...(process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, 'kubectl')),
    ...(existsSync(cache) ? readdirSync(cache).map((name) => join(cache, name)) : []),
  ];
  const found = new Map<string, Kubectl>();
  for (const path of paths.filter(isExecutable)) {
    const real = realpathSync(path);
    if (found.has(real)) continue;
    const { stdout } = spawnSync(path, ['version', '--client', '-o', 'json'], { encoding: 'utf8' });
    found.set(real, { path, version: /"gitVersion": "([^"]*)"/.exec(stdout)?.[1] ?? 'of unknown version' });
  }
  return [...found.values()];
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return path !== '';
  } catch {
    return false;
  }
}

interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** The expectation that failed; undefined for success. */
  readonly problem: string | undefined;
}

/** Long, for a busy machine: a step that hangs fails in any case. */
const stepTimeoutMs = 120_000;

/** One kubectl against one server, with a cache directory of its own, so that it reads no other server's discovery. */
export class KubectlRunner {
  private readonly kept = new Map<string, string>();

  private constructor(
    private readonly kubectl: Kubectl,
    private readonly kubeconfig: string,
    private readonly cache: string,
  ) {}

  static async open(kubectl: Kubectl, kubeconfig: string): Promise<KubectlRunner> {
    return new KubectlRunner(kubectl, kubeconfig, await mkdtemp(join(tmpdir(), 'kubectl-')));
  }

  async run({ args, stdin = '', env, code, stdout, stderr, until, keep }: Step): Promise<Outcome> {
    const words = [
      `--kubeconfig=${this.kubeconfig}`,
      `--cache-dir=${this.cache}`,
      ...args.map((one) => this.filled(one)),
    ];
    const child = spawn(this.kubectl.path, words, { env: { ...process.env, ...env } });
    const texts = { stdout: '', stderr: '' };
    child.stdout.on('data', (part: Buffer) => {
      texts.stdout += String(part);
      if (until?.test(texts.stdout)) child.kill();
    });
    child.stderr.on('data', (part: Buffer) => (texts.stderr += String(part)));
    // kubectl may exit without reading its input.
    child.stdin.on('error', () => undefined);
    child.stdin.end(this.filled(stdin));
    const patience = setTimeout(() => child.kill('SIGKILL'), stepTimeoutMs);
    const ended = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    clearTimeout(patience);
    if (keep !== undefined) this.kept.set(keep, texts.stdout.trim());
    const missing = (['stdout', 'stderr'] as const).find(
      (name) => !({ stdout, stderr }[name] ?? /^/).test(texts[name]),
    );
    const wanted = code ?? 0;
    const problem = until
      ? until.test(texts.stdout)
        ? undefined
        : `never printed ${String(until)}`
      : ended !== wanted
        ? `ended with ${ended}, not ${wanted}`
        : missing && `${missing} does not match ${String({ stdout, stderr }[missing])}`;
    return { code: ended, ...texts, problem };
  }

  /** Replaces placeholders such as `<uid>` by the values that earlier steps kept. */
  private filled(text: string): string {
    return text.replace(/<([a-z]+)>/g, (whole, name: string) => this.kept.get(name) ?? whole);
  }

  async close(): Promise<void> {
    await rm(this.cache, { recursive: true, force: true });
  }
}

/** Describes a failed call. */
export function describeOutcome({ problem, stdout, stderr }: Outcome): string {
  const shorten = (text: string) => (text.length > 1500 ? `${text.slice(0, 1500)}…` : text).trimEnd();
  return [problem, shorten(stdout), shorten(stderr)].filter((text) => text).join('\n');
}
