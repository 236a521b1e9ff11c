import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ClientError } from '../../src/kubeconfig-client/client-error.js';
import type { Kubeconfig } from '../../src/kubeconfig-client/kubeconfig.js';
import { loadKubeconfig } from '../../src/kubeconfig-client/load-kubeconfig.js';
import { PluginCredentialSource } from '../../src/kubeconfig-client/plugin-credentials.js';
import { systemClock, type Clock } from '../../src/std/clock.js';

/** A credential plug-in, a process of its own, that records its runs and then runs the program of a test. */
export const directory = mkdtempSync(join(tmpdir(), 'keelson-plugin-'));

/** Writes the plug-in; a spec calls it once. */
export function installPlugin(): void {
  beforeAll(writePlugin);
  beforeEach(() => rmSync(join(directory, 'runs'), { force: true }));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
}

function writePlugin(): void {
  const script = `#!${process.execPath}
    const fs = require('node:fs');
    const { KUBERNETES_EXEC_INFO: info, SVC_EXEC_INFO: svcInfo, EXTRA: extra, HOME: home } = process.env;
    const run = { info, svcInfo, extra, hasHome: home !== undefined, args: process.argv.slice(2), stdin: fs.readFileSync(0, 'utf8') };
    fs.appendFileSync(${JSON.stringify(join(directory, 'runs'))}, JSON.stringify(run) + '\\n');
    eval(fs.readFileSync(${JSON.stringify(join(directory, 'program'))}, 'utf8'));`;
  writeFileSync(join(directory, 'plugin.cjs'), script, { mode: 0o700 });
  writeFileSync(join(directory, 'not-executable'), script, { mode: 0o600 });
}

interface Run {
  readonly info?: string;
  readonly svcInfo?: string;
  readonly extra?: string;
  readonly hasHome: boolean;
  readonly args: readonly string[];
  readonly stdin: string;
}
export const runs = (): Run[] => {
  const file = join(directory, 'runs');
  const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  return lines.map((line) => JSON.parse(line) as Run);
};

export const apiVersion = 'client.authentication.k8s.io/v1';
export const program = (code: string) => writeFileSync(join(directory, 'program'), code);
export const prints = (output: unknown) => program(`process.stdout.write(${JSON.stringify(JSON.stringify(output))})`);
export const credential = (status: unknown) => ({ apiVersion, kind: 'ExecCredential', status });

export interface SourceOptions {
  readonly clock?: Clock;
  readonly timeoutMs?: number;
  readonly variable?: string;
  readonly hasTerminal?: boolean;
  readonly messages?: string[];
  readonly cluster?: Record<string, unknown>;
}

export async function source(exec: Record<string, unknown> = {}, options: SourceOptions = {}) {
  const file = join(directory, 'config');
  const user = { exec: { apiVersion, command: './plugin.cjs', interactiveMode: 'Never', ...exec } };
  const server = 'https://api.example:6443';
  const document = {
    'current-context': 'a',
    contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
    clusters: [{ name: 'a', cluster: { server, ...options.cluster } }],
    users: [{ name: 'a', user }],
  };
  writeFileSync(file, JSON.stringify(document));
  const kubeconfig: Kubeconfig = await loadKubeconfig({ file });
  const log = (_message: string, fields?: Record<string, unknown>) =>
    void options.messages?.push(String(fields?.['text']));
  return new PluginCredentialSource({
    kubeconfig,
    plugin: kubeconfig.user.plugin!,
    certificateAuthority: undefined,
    variable: options.variable ?? 'KUBERNETES_EXEC_INFO',
    timeoutMs: options.timeoutMs ?? 60_000,
    clock: options.clock ?? systemClock,
    logger: { debug: log, info: log, warn: log, error: log },
    hasTerminal: () => options.hasTerminal ?? false,
  });
}
export const failureOf = async (exec?: Record<string, unknown>, options?: SourceOptions): Promise<ClientError> => {
  const plugin = await source(exec, options);
  return plugin.get().then(
    () => {
      throw new Error('the plug-in succeeded');
    },
    (error: unknown) => error as ClientError,
  );
};
