import { readFile } from 'node:fs/promises';
import { reasonOf } from '../certificates/certificate-error.js';
import type { LiveFiles } from '../certificates/live-files.js';
import { FlagError } from '../config/flag-error.js';
import type { ServerConfig } from '../config/server-config.js';
import type { KmsConfiguration } from '../encryption/configuration/encryption-configuration.js';
import { readEncryptionConfiguration } from '../encryption/configuration/read-encryption-configuration.js';
import { KmsProvider } from '../encryption/kms/kms-provider.js';
import { makeRules } from '../encryption/make-rules.js';
import { ResourceTransforms, type TransformerRules } from '../encryption/resource-transforms.js';
import type { HealthCheck } from '../endpoints/health-checks.js';
import { EncryptionMetrics } from '../metrics/encryption-metrics.js';
import { ReloadMetrics } from '../metrics/reload-metrics.js';
import { sleep } from '../std/clock.js';
import type { Rng } from '../std/rng.js';
import { openFollowedFile } from './followed-file.js';
import type { FileWatching } from './tls.js';

/** Encryption of stored objects by --encryption-provider-config. */
export interface Encryption {
  readonly transforms: ResourceTransforms;
  readonly reloads: ReloadMetrics;
  readonly metrics: EncryptionMetrics;
  /** Checks of KMS plug-ins. */
  readonly healthChecks: readonly HealthCheck[];
  /** Calls the listener when values may be readable that were not before. */
  onKeysChanged(listener: () => void): void;
}

export type EncryptionWatching = FileWatching & { readonly rng: Rng };

interface Options {
  /** --encryption-provider-config */
  readonly file: string;
  readonly isReloaded: boolean;
  readonly config: ServerConfig;
}

/** The configuration of one state of the file. */
interface Generation {
  readonly text: string;
  readonly rules: TransformerRules;
  readonly plugins: readonly { readonly provider: KmsProvider; readonly timeoutMs: number }[];
}

const flag = 'encryption-provider-config';
/** As in kube-apiserver: time in which the plug-ins of a changed file must become healthy, and the interval of checks. */
const healthyMsMin = 10_000;
const healthPollMs = 100;

/** Reads the file, and follows it if wanted. Rejects with a FlagError if it cannot be used. */
export async function openEncryptionFile(options: Options, watching: EncryptionWatching): Promise<Encryption> {
  const source = new EncryptionSource(options, watching);
  await source.open();
  return source;
}

class EncryptionSource implements Encryption {
  readonly reloads: ReloadMetrics;
  readonly metrics: EncryptionMetrics;
  transforms!: ResourceTransforms;
  healthChecks: readonly HealthCheck[] = [];
  private used: Generation | undefined;
  private readonly listeners: (() => void)[] = [];

  constructor(
    private readonly options: Options,
    private readonly watching: EncryptionWatching,
  ) {
    this.reloads = new ReloadMetrics('encryption', watching.clock);
    this.metrics = new EncryptionMetrics(watching.clock);
  }

  async open(): Promise<void> {
    const { file, isReloaded, config } = this.options;
    this.watching.undo.add(() => {
      if (this.used) closeAll(this.used);
    });
    const live = isReloaded ? await this.follow(file) : undefined;
    const generation = live ? live.current() : await this.make(await readOnce(file));
    this.transforms = new ResourceTransforms(`${config.storage.etcd.prefix}/`, generation.rules);
    this.use(generation);
    live?.onChange((changed) => this.replace(changed));
    if (isReloaded || generation.plugins.length > 0) this.healthChecks = [this.healthCheck()];
  }

  onKeysChanged(listener: () => void): void {
    this.listeners.push(listener);
  }

  private notify(): void {
    for (const listener of this.listeners) listener();
  }

  private use(generation: Generation): void {
    this.used = generation;
    this.reloads.used(generation.text);
  }

  private replace(generation: Generation): void {
    const before = this.used;
    this.transforms.replaceRules(generation.rules);
    this.use(generation);
    this.reloads.reloaded('success');
    this.notify();
    // Running calls of the old plug-ins still get their answers.
    if (before) this.watching.clock.after(closeDelayMs(before), () => closeAll(before));
  }

  /** Follows the file. A change that cannot be used is logged and counted, and has no effect. */
  private follow(file: string): Promise<LiveFiles<Generation>> {
    const { reloads } = this;
    const options = {
      subject: 'encryption configuration',
      flag,
      file,
      parse: (bytes: Buffer) => this.make(bytes),
      reloads,
    };
    return openFollowedFile(options, this.watching);
  }

  /** Opens the providers of the file. At start, plug-ins may still be starting; a changed file needs healthy ones. */
  private async make(bytes: Buffer): Promise<Generation> {
    const { file, config } = this.options;
    const text = bytes.toString();
    const configuration = readEncryptionConfiguration(text, { file, naming: config.naming });
    const plugins: { provider: KmsProvider; timeoutMs: number }[] = [];
    const rules = makeRules(configuration, {
      kmsProvider: (kms) => {
        const provider = this.provider(kms);
        plugins.push({ provider, timeoutMs: kms.timeoutMs });
        return provider.prefixed;
      },
      observe: (rule) => this.metrics.conversionsOf(rule),
    });
    const generation = { text, rules, plugins };
    try {
      await Promise.all(plugins.map(({ provider }) => provider.start()));
      if (this.used) await this.requireHealthy(generation);
      return generation;
    } catch (error) {
      closeAll(generation);
      throw error;
    }
  }

  private provider(kms: KmsConfiguration): KmsProvider {
    const { clock, rng, logger } = this.watching;
    const observer = this.metrics.observerOf(kms.name);
    return new KmsProvider({ kms, clock, rng, logger, observer, onRecovered: () => this.notify() });
  }

  private async requireHealthy(generation: Generation): Promise<void> {
    const { clock } = this.watching;
    const endMs = clock.monotonicMs() + Math.max(healthyMsMin, closeDelayMs(generation));
    for (;;) {
      try {
        return await checkAll(generation);
      } catch (error) {
        if (clock.monotonicMs() >= endMs) throw new FlagError(flag, [reasonOf(error)], this.options.file);
        await sleep(clock, healthPollMs);
      }
    }
  }

  private healthCheck(): HealthCheck {
    return {
      name: 'kms-providers',
      endpoints: ['healthz', 'readyz'],
      check: async () => {
        if (this.used) await checkAll(this.used);
      },
    };
  }
}

async function checkAll({ plugins }: Generation): Promise<void> {
  const results = await Promise.allSettled(plugins.map(({ provider }) => provider.check()));
  const problems = results.flatMap((result, index) =>
    result.status === 'rejected' ? [`kms-provider-${index}: ${reasonOf(result.reason)}`] : [],
  );
  if (problems.length > 0) throw new Error(problems.join(', '));
}

function closeAll({ plugins }: Generation): void {
  for (const { provider } of plugins) provider.close();
}

/** Twice the timeouts of all plug-ins, as in kube-apiserver. */
const closeDelayMs = ({ plugins }: Generation): number =>
  2 * plugins.reduce((sum, { timeoutMs }) => sum + timeoutMs, 0);

async function readOnce(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    throw new FlagError(flag, [reasonOf(error)], file);
  }
}
