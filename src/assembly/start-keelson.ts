import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { ModuleContext, ServerComponents } from './components.js';
import { makeEphemeralPki } from '../certificates/ephemeral-pki.js';
import { defaultConfig, type ConfigOverrides } from '../config/load-config.js';
import type { ServerConfig } from '../config/server-config.js';
import { startOpenServer, type StartOptions } from './server.js';
import type { Pki } from '../certificates/pki.js';
import type { KvStore } from '../storage/kv-store.js';
import { systemClock } from '../std/clock.js';
import { silentLogger } from '../std/logger.js';

export interface KeelsonOptions extends StartOptions {
  /** Overrides of the configuration of `keelson serve`. Defaults: in-memory store, free port of 127.0.0.1. */
  readonly config?: ConfigOverrides;
}

export interface Keelson {
  readonly url: string;
  /** Kubeconfig (YAML) of an administrator. */
  readonly kubeconfig: string;
  /** PEM of the CA that signed the serving certificate. */
  readonly ca: string;
  /** PEM of the client certificate in the kubeconfig. */
  readonly client: { readonly certificate: string; readonly key: string };
  readonly app: NestFastifyApplication;
  /** The stores, the configuration and the access checks of the server, as API group modules get them. */
  readonly context: ModuleContext;
  /** Writes the kubeconfig to a temporary file, which stop() removes, and returns its path. */
  kubeconfigFile(): Promise<string>;
  stop(): Promise<void>;
}

/** A server of startKeelson() with its components, which programs outside do not see. */
export interface OpenKeelson extends Keelson {
  readonly components: ServerComponents;
  readonly pki: Pki;
  readonly store: KvStore;
  readonly storeIsShared: boolean;
}

/** startKeelson() with access to the components. */
export async function startOpenKeelson(options: KeelsonOptions = {}): Promise<OpenKeelson> {
  const { config: overrides = {} } = options;
  const storage = { backend: 'memory', ...overrides.storage } as const;
  const serving = { securePort: 0, bindAddress: '127.0.0.1', ...overrides.serving };
  return startConfiguredKeelson(defaultConfig({ ...overrides, storage, serving }, options), options);
}

/** startOpenKeelson() with a complete configuration. */
export async function startConfiguredKeelson(config: ServerConfig, options: StartOptions = {}): Promise<OpenKeelson> {
  const supplied = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  const pki = await makeEphemeralPki({ clock: options.clock ?? systemClock });
  const server = await startOpenServer(config, { logger: silentLogger, ...supplied, pki });
  const client = pki.admin.current();
  const kubeconfig = pki.adminKubeconfig(server.url);
  let directory: string | undefined;
  return {
    url: server.url,
    kubeconfig,
    ca: pki.authority.current().pem,
    client,
    app: server.app,
    context: server.components,
    components: server.components,
    pki,
    store: server.store,
    storeIsShared: server.storeIsShared,
    async kubeconfigFile() {
      directory ??= await mkdtemp(join(tmpdir(), 'keelson-'));
      const file = join(directory, 'kubeconfig');
      await writeFile(file, kubeconfig, { mode: 0o600 });
      return file;
    },
    async stop() {
      await server.close();
      if (directory !== undefined) await rm(directory, { recursive: true, force: true });
    },
  };
}
