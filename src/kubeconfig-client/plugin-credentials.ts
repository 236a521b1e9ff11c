import type { Clock } from '../std/clock.js';
import type { Logger } from '../std/logger.js';
import { sharedAbort } from '../std/shared-abort.js';
import { ClientError } from './client-error.js';
import { areEqual, type Credentials, type CredentialSource } from './credentials.js';
import type { Kubeconfig, PluginSettings } from './kubeconfig.js';
import type { LiveContent } from './live-content.js';
import { pluginInput } from './plugin-input.js';
import { parsePluginOutput, type PluginCredentials } from './plugin-output.js';
import { runPlugin } from './run-plugin.js';

interface PluginDependencies {
  readonly kubeconfig: Kubeconfig;
  readonly plugin: PluginSettings;
  readonly certificateAuthority: LiveContent | undefined;
  /** Name of the variable with the ExecCredential. */
  readonly variable: string;
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
  /** True if standard input is a terminal. */
  readonly hasTerminal: () => boolean;
}

/** A plug-in that returns rejected credentials again is not run for each answer 401. */
const rerunMs = 1_000;

/**
 * Credentials of a plug-in. They are used until their expirationTimestamp; without one, until an answer 401. Requests
 * that need them at the same time share one run.
 */
export class PluginCredentialSource implements CredentialSource {
  private cached: PluginCredentials | undefined;
  private running: Promise<PluginCredentials> | undefined;
  private rejected: Credentials | undefined;
  private rerunFromMs = -Infinity;
  private readonly closing = sharedAbort();

  constructor(private readonly dependencies: PluginDependencies) {}

  async get(): Promise<Credentials> {
    const { cached } = this;
    if (cached && !this.isExpired(cached)) return cached;
    this.running ??= this.run().finally(() => (this.running = undefined));
    return this.running;
  }

  reject(credentials: Credentials): boolean {
    // Another request may have caused a run since.
    if (credentials !== this.cached) return true;
    if (this.dependencies.clock.monotonicMs() < this.rerunFromMs) return false;
    this.rejected = credentials;
    this.cached = undefined;
    return true;
  }

  close(): void {
    this.closing.abort();
  }

  private isExpired({ expiresAtMs }: PluginCredentials): boolean {
    return expiresAtMs !== undefined && expiresAtMs <= this.dependencies.clock.now();
  }

  private async run(): Promise<PluginCredentials> {
    const { kubeconfig, plugin, variable, clock, logger } = this.dependencies;
    const isInteractive = this.isInteractive();
    const certificateAuthority = await this.dependencies.certificateAuthority?.read();
    const input = pluginInput({ kubeconfig, plugin, certificateAuthority, isInteractive });
    const failure = (problem: string, cause?: unknown) => this.failure(problem, cause);
    if (this.closing.signal.aborted) throw failure('the client was closed');
    const output = await runPlugin({
      plugin,
      env: { ...process.env, ...plugin.env, [variable]: input },
      isInteractive,
      timeoutMs: this.dependencies.timeoutMs,
      clock,
      signal: this.closing.signal,
      failure,
      onMessage: (text) => logger.warn('message of a credential plug-in', { command: plugin.command, text }),
    });
    const credentials = parsePluginOutput(output, plugin.apiVersion, failure);
    if (this.rejected && areEqual(credentials, this.rejected)) this.rerunFromMs = clock.monotonicMs() + rerunMs;
    this.rejected = undefined;
    this.cached = credentials;
    return credentials;
  }

  private isInteractive(): boolean {
    const { plugin, hasTerminal } = this.dependencies;
    if (plugin.interactiveMode === 'Never') return false;
    const has = hasTerminal();
    if (!has && plugin.interactiveMode === 'Always') {
      throw this.failure('interactiveMode is Always and standard input is not a terminal; run this in a terminal');
    }
    return has;
  }

  private failure(problem: string, cause?: unknown): ClientError {
    const { kubeconfig, plugin } = this.dependencies;
    const subject = `credential plug-in ${plugin.command} of kubeconfig ${kubeconfig.location}`;
    const server = kubeconfig.cluster.server.origin;
    return new ClientError('Credentials', `no credentials for ${server}: ${subject}: ${problem}`, { cause });
  }
}
