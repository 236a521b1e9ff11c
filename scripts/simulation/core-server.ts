import 'reflect-metadata';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { makeComponents, type ServerComponents } from '../../src/assembly/components.js';
import { AppModule } from '../../src/app.module.js';
import { checkAgainstStore } from '../../src/cache/checker.js';
import { defaultConfig } from '../../src/config/load-config.js';
import { every, type Clock, type Timer } from '../../src/std/clock.js';
import { silentLogger } from '../../src/std/logger.js';
import type { Rng } from '../../src/std/rng.js';
import { FaultyStore } from '../../src/storage/decorators/faulty-store.js';
import type { KvStore } from '../../src/storage/kv-store.js';
import { StorageError } from '../../src/storage/storage-error.js';
import { CoreApi } from './core-api.js';
import { EndingStore, type Faults } from './faults.js';

const checkMs = 700;

interface CoreServerOptions {
  readonly name: string;
  readonly store: KvStore;
  /** The store that the cache is compared with. */
  readonly checkedStore: KvStore;
  readonly faults: Faults;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly historyEventsMax: number;
  /** Called if the cache differs from the store. */
  readonly mismatch: (message: string) => void;
}

/** A server without sockets: modules, registry, cache and verbs, on a store with injected faults. */
export class CoreServer {
  readonly api: CoreApi;
  private checking: Timer | undefined;

  private constructor(
    private readonly options: CoreServerOptions,
    private readonly app: INestApplicationContext,
    readonly components: ServerComponents,
    private readonly faulty: FaultyStore,
  ) {
    this.api = new CoreApi(options.name, components);
  }

  /** Ready when start() has resolved, which needs the clock to advance. */
  static async make(options: CoreServerOptions): Promise<CoreServer> {
    const { clock, rng, faults } = options;
    const faulty = new FaultyStore(new EndingStore(options.store, faults), faults);
    const components = makeComponents({
      config: defaultConfig({
        storage: { backend: 'memory' },
        limits: { historyEventsPerResourceMax: options.historyEventsMax },
        // Disabled: no reconciler creates the default ServiceAccounts here.
        admission: { disabledPlugins: ['ServiceAccount'] },
      }),
      store: faulty,
      clock,
      rng,
      logger: silentLogger,
      certificates: undefined,
      tokens: undefined,
    });
    const app = await NestFactory.createApplicationContext(AppModule.for(components), {
      logger: false,
      abortOnError: false,
    });
    return new CoreServer(options, app, components, faulty);
  }

  async start(): Promise<void> {
    await this.components.feed.start();
    this.checking = every(this.options.clock, checkMs, () => this.check());
  }

  heal(): void {
    this.faulty.heal();
  }

  /** Compares the cache with the store, unless the revision was compacted meanwhile. */
  async check(): Promise<void> {
    const { checkedStore, mismatch, name } = this.options;
    try {
      for (const found of await checkAgainstStore(this.components.feed, checkedStore))
        mismatch(
          `${name} at ${found.revision}: ${found.key} is ${found.inCache} in the cache, ${found.inStore} in the store`,
        );
    } catch (error) {
      if (!(error instanceof StorageError) || error.code !== 'compacted') throw error;
    }
  }

  async close(): Promise<void> {
    this.checking?.cancel();
    await this.components.feed.close();
    await this.app.close();
  }
}
