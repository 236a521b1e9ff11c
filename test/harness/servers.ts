import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ConfigOverrides } from '../../src/config/load-config.js';
import { startOpenKeelson, type OpenKeelson, type KeelsonOptions } from '../../src/assembly/start-keelson.js';
import { UndoSteps } from '../../src/assembly/undo-steps.js';
import { EtcdCluster } from './etcd.js';
import { HttpClient, type ClientOptions } from './http-client.js';

export type StoreName = 'memory' | 'embedded' | 'etcd';
export type NamingName = 'kubernetes' | 'svc';

/** Store, naming profile and the like, on which the same behaviour is tested. */
export interface Combination {
  readonly store: StoreName;
  readonly naming: NamingName;
}

export const combinationName = ({ store, naming }: Combination) => `${store} × ${naming}`;

/** A server on a real store, with a client of its administrator. stop() removes everything that was created for it. */
export interface TestServer {
  readonly keelson: OpenKeelson;
  readonly url: string;
  readonly admin: HttpClient;
  /** A client with options, anonymous by default. Closed by stop(). */
  client(options?: Partial<ClientOptions>): HttpClient;
  stop(): Promise<void>;
}

type Options = Omit<KeelsonOptions, 'config'> & {
  readonly config?: ConfigOverrides;
  /** A running etcd; without one the server gets its own. */
  readonly etcd?: EtcdCluster;
  /** Directory of the embedded store; a temporary one by default. */
  readonly directory?: string;
};

let etcdPrefixes = 0;

export async function startTestServer({ store, naming }: Combination, options: Options = {}): Promise<TestServer> {
  const { config = {}, etcd: sharedEtcd, directory: givenDirectory, ...rest } = options;
  const undo = new UndoSteps();
  try {
    let storage: ConfigOverrides['storage'] = { backend: 'memory' };
    if (store === 'embedded') {
      const directory = givenDirectory ?? (await mkdtemp(join(tmpdir(), 'keelson-store-')));
      if (givenDirectory === undefined) undo.add(() => rm(directory, { recursive: true, force: true }));
      storage = { backend: 'embedded', dataDirectory: directory };
    }
    if (store === 'etcd') {
      const etcd = sharedEtcd ?? (await EtcdCluster.start());
      if (!sharedEtcd) undo.add(() => etcd.stop());
      const { servers } = etcd.storeOptions;
      storage = { backend: 'etcd3', etcd: { servers, prefix: `/test-${process.pid}-${++etcdPrefixes}` } };
    }
    const keelson = await startOpenKeelson({
      ...rest,
      config: { ...config, storage: { ...storage, ...config.storage }, naming: { profile: naming, ...config.naming } },
    });
    undo.add(() => keelson.stop());
    const client = (given: Partial<ClientOptions> = {}) => {
      const made = new HttpClient({ url: keelson.url, ca: keelson.ca, ...given });
      undo.add(() => made.close());
      return made;
    };
    return {
      keelson,
      url: keelson.url,
      admin: client(keelson.client),
      client,
      stop: () => undo.run(),
    };
  } catch (error) {
    // A failing step must not hide the cause.
    await undo.run(() => undefined);
    throw error;
  }
}
