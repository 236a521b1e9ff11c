import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { openEncryption } from './assembly/encryption.js';
import type { Encryption } from './assembly/encryption-file.js';
import { UndoSteps } from './assembly/undo-steps.js';
import { makeComponents, type ServerComponents } from './assembly/components.js';
import { ResourcesModule } from './app.module.js';
import type { CheckReport } from './check/check-report.js';
import { reportText, type ReportFormat } from './check/report-text.js';
import { StoreCheck } from './check/store-check.js';
import { FlagError } from './config/flag-error.js';
import { loadConfig } from './config/load-config.js';
import type { RuntimeConfig } from './config/runtime-config.js';
import type { ServerConfig } from './config/server-config.js';
import { nestLogger } from './assembly/logging.js';
import { apiextensionsVersion } from './modules/apiextensions/apiextensions.resources.js';
import { chooseApis } from './registry/apis/enabled-apis.js';
import type { ResourceRegistry } from './registry/resource-registry.js';
import { startErrorLine } from './assembly/start-error.js';
import { holdProcess, systemClock, type Clock } from './std/clock.js';
import { silentLogger } from './std/logger.js';
import { systemRng } from './std/rng.js';
import { ReadOnlyStore } from './storage/decorators/read-only-store.js';
import { backendNamed } from './storage/backends.js';
import type { KvStore } from './storage/kv-store.js';

export interface CheckOptions {
  readonly all?: boolean;
  /** Maximum number of problems to list for one resource. */
  readonly problems: number;
  readonly output: ReportFormat;
}

interface Output {
  write(text: string): unknown;
}

const progressIntervalMs = 1000;

/** Runs `keelson check` and returns its exit code. `words` are flags of `keelson serve`. */
export async function runCheck(
  words: readonly string[],
  options: CheckOptions,
  { stdout, stderr }: { readonly stdout: Output; readonly stderr: Output },
): Promise<number> {
  const tell = (line: string) => void stderr.write(`keelson check: ${line}\n`);
  const usage = (problem: string) => {
    tell(`${problem}; see keelson check --help`);
    return 2;
  };
  if (!Number.isInteger(options.problems) || options.problems < 0) return usage('--problems: give a whole number');
  const loaded = loadConfig(words, process.env, { defaults: 'keelson' });
  if (loaded.errors) return usage(loaded.errors.join('; '));
  const { config } = loaded;
  if (config.storage.backend === 'memory') return usage('--storage-backend=memory: give --etcd-servers URL[,URL]');

  const told = { clock: systemClock, rng: systemRng, logger: silentLogger, isReadOnly: true };
  const hold = holdProcess();
  const undo = new UndoSteps();
  let store: KvStore | undefined;
  try {
    store = await backendNamed(config.storage.backend).open({ ...told, config });
    const problemsMax = options.all ? Infinity : options.problems;
    const encryption = await openEncryption(withoutReloads(config), { ...told, undo });
    const report = await checkStore(config, store, { problemsMax, encryption, clock: systemClock, progress: tell });
    stdout.write(reportText(report, options.output));
    return report.isClean ? 0 : 1;
  } catch (error) {
    tell(error instanceof FlagError ? error.message : startErrorLine(error, config));
    return 2;
  } finally {
    await undo.run(() => undefined);
    await store?.close();
    hold.cancel();
  }
}

/** Returns the configuration of a command that ends before a file changes. */
function withoutReloads(config: ServerConfig): ServerConfig {
  const { storage } = config;
  return { ...config, storage: { ...storage, encryption: { ...storage.encryption, reloads: false } } };
}

interface StoreCheckOptions {
  readonly problemsMax: number;
  /** Decrypts stored values; absent if they are not encrypted. */
  readonly encryption?: Encryption | undefined;
  readonly clock: Clock;
  /** Called with a line of progress every second. */
  readonly progress: (line: string) => void;
}

/** Checks every key of an open store, without a write. The caller closes the store. */
export async function checkStore(
  config: ServerConfig,
  store: KvStore,
  { problemsMax, encryption, clock, progress }: StoreCheckOptions,
): Promise<CheckReport> {
  const components = makeComponents({
    // All resources: the store may hold objects of those that --runtime-config disables.
    config: { ...config, runtimeConfig: { 'api/all': true } },
    store: new ReadOnlyStore(store),
    encryption,
    clock,
    rng: systemRng,
    logger: silentLogger,
    certificates: undefined,
    tokens: undefined,
  });
  const app = await NestFactory.createApplicationContext(ResourcesModule.for(components), {
    abortOnError: false,
    logger: nestLogger(silentLogger),
  });
  const check = new StoreCheck({
    ...components,
    root: components.storeDependencies.root,
    definitions: definitionsOf(components),
    isServed: servedBy(config.runtimeConfig, components.registry, config),
    pageItems: config.limits.storePageItems,
    problemsMax,
  });
  const beginMs = clock.monotonicMs();
  let timer = clock.after(progressIntervalMs, tick);
  function tick() {
    progress(progressLine(check.progress, (clock.monotonicMs() - beginMs) / 1000));
    timer = clock.after(progressIntervalMs, tick);
  }
  try {
    return await check.run();
  } finally {
    timer.cancel();
    await components.feed.close();
    await app.close();
  }
}

function definitionsOf({ registry, config }: ServerComponents) {
  const { group, version } = apiextensionsVersion(config.naming);
  return registry.require(group, version, 'customresourcedefinitions').store;
}

function servedBy(runtimeConfig: RuntimeConfig, registry: ResourceRegistry, { naming }: ServerConfig) {
  const known = registry.servedVersions().map(({ group, version, resources }) => ({
    group,
    version,
    resources: resources.map(({ definition }) => definition.plural),
  }));
  const choice = chooseApis(runtimeConfig, known, naming);
  if (choice.errors) throw new FlagError('runtime-config', choice.errors);
  return choice.isServed;
}

function progressLine({ keys, keysTotal, problems }: StoreCheck['progress'], seconds: number): string {
  if (keysTotal === undefined) return 'waiting for the first page of keys';
  const percent = keysTotal === 0 ? 100 : Math.floor((keys / keysTotal) * 100);
  return `${keys} of ${keysTotal} keys read (${percent} %, ${Math.round(keys / seconds)}/s), ${problems} problems so far`;
}
