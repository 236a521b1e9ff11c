import { startOpenKeelson, type Keelson, type KeelsonOptions, type OpenKeelson } from '../assembly/start-keelson.js';
import type { KubeconfigClient } from '../kubeconfig-client/kubeconfig-client.js';
import { openKubeconfigClient } from '../kubeconfig-client/open-client.js';
import { applyFixtures, readFixtures, type Fixture } from './fixtures.js';
import { restoreStoreSnapshot, takeStoreSnapshot, type StoreSnapshot } from './store-snapshot.js';
import { makeTestUser, roleBindingsOf, TemporaryFiles, type TestUser, type TestUserOptions } from './test-users.js';

interface TestFixtures {
  /** CustomResourceDefinitions. */
  readonly crds?: readonly Fixture[];
  /** Objects that exist before startKeelson() resolves. */
  readonly fixtures?: readonly Fixture[];
  /** Policies and their bindings. They are applied last, so that they do not judge the other fixtures. */
  readonly admissionPolicies?: readonly Fixture[];
  /** Users with client certificates, by name. */
  readonly users?: Readonly<Record<string, TestUserOptions>>;
}

export interface TestKeelsonOptions extends KeelsonOptions, TestFixtures {}

export interface RestoreOptions {
  /**
   * `events`: watches go on and get an event for each object that the restore changes. `expire`: watches end with 410, as
   * after a compaction, so that informers list again. Default: events.
   */
  readonly watches?: 'events' | 'expire';
}

/** The state of all objects at one time. */
export interface ClusterSnapshot {
  readonly objectCount: number;
}

export interface TestKeelson extends Keelson {
  /** Sends requests as the administrator. */
  readonly api: KubeconfigClient;
  /** Returns a user of `users`, or a new one without groups. */
  user(name: string): Promise<TestUser>;
  /** Applies further objects. */
  apply(...fixtures: readonly Fixture[]): Promise<void>;
  /** Keeps the state of all objects, without copying them. */
  snapshot(): Promise<ClusterSnapshot>;
  /** Resets all objects, with their uids and without finalizers. resourceVersions go on increasing. */
  restore(snapshot: ClusterSnapshot, options?: RestoreOptions): Promise<void>;
}

class TakenSnapshot implements ClusterSnapshot {
  constructor(readonly content: StoreSnapshot) {}

  get objectCount(): number {
    return this.content.items.length;
  }
}

const restoredMsMax = 30_000;

export async function startTestKeelson(options: TestKeelsonOptions = {}): Promise<TestKeelson> {
  return prepareTestServer(await startOpenKeelson(options), options);
}

/** Creates the fixtures and users of a server, and returns it with the methods for tests. Stops it if one is refused. */
export async function prepareTestServer(
  server: OpenKeelson,
  { crds = [], fixtures = [], admissionPolicies = [], users = {} }: TestFixtures,
): Promise<TestKeelson> {
  const files = new TemporaryFiles();
  const clients: KubeconfigClient[] = [];
  const stop = async () => {
    for (const client of clients) client.close();
    await files.remove();
    await server.stop();
  };
  try {
    const api = await openKubeconfigClient({ text: server.kubeconfig });
    clients.push(api);
    const bindings = Object.entries(users).flatMap(([name, user]) => roleBindingsOf(name, user));
    const apply = async (objects: readonly Fixture[]) => applyFixtures(api, await readFixtures(objects));
    await apply([...crds, ...fixtures, ...bindings]);
    await apply(admissionPolicies);
    return { ...server, ...testMethods(server, { api, users, files, clients, apply }), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface TestParts {
  readonly api: KubeconfigClient;
  readonly users: Readonly<Record<string, TestUserOptions>>;
  readonly files: TemporaryFiles;
  readonly clients: KubeconfigClient[];
  readonly apply: (objects: readonly Fixture[]) => Promise<void>;
}

function testMethods(server: OpenKeelson, { api, users, files, clients, apply }: TestParts) {
  const known = new Map<string, Promise<TestUser>>();
  const makeUser = async (name: string) => {
    const groups = Object.hasOwn(users, name) ? (users[name]?.groups ?? []) : [];
    const user = await makeTestUser(server, name, groups, files);
    clients.push(user.api);
    return user;
  };
  return {
    api,
    apply: (...objects: readonly Fixture[]) => apply(objects),
    user: (name: string) => {
      const user = known.get(name) ?? makeUser(name);
      known.set(name, user);
      return user;
    },
    snapshot: async () => new TakenSnapshot(await takeStoreSnapshot(server.store)),
    restore: async (snapshot: ClusterSnapshot, { watches = 'events' }: RestoreOptions = {}) => {
      if (!(snapshot instanceof TakenSnapshot)) throw new TypeError('restore() needs the result of snapshot()');
      const { feed } = server.components;
      if (watches === 'expire') feed.expireWatches();
      const revision = await restoreStoreSnapshot(server.store, snapshot.content);
      await feed.waitFor(revision, { timeoutMs: restoredMsMax });
      if (watches === 'events') return;
      await server.store.compact(revision);
      feed.expireWatches();
    },
  };
}
