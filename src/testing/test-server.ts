import { startOpenKeelson, type Keelson, type KeelsonOptions, type OpenKeelson } from '../assembly/start-keelson.js';
import { stringifyJson } from '../codec/json.js';
import type { RuleCounts } from '../faults/fault-injector.js';
import { parseFaultPlan } from '../faults/fault-plan.js';
import type { KubeconfigClient } from '../kubeconfig-client/kubeconfig-client.js';
import { openKubeconfigClient } from '../kubeconfig-client/open-client.js';
import { applyFixtures, readFixtures, refuseDefinitions, type Fixture } from './fixtures.js';
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
  /** A fault plan, as an object or as YAML. It is in force once the fixtures exist. */
  readonly faults?: FaultPlanInput;
}

export interface TestKeelsonOptions extends KeelsonOptions, TestFixtures {}

type TestServerOptions = TestFixtures & Pick<KeelsonOptions, 'reconciles'>;

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
  /** Replaces the fault plan; {} for none. Needs the option `faults`. */
  setFaults(plan: FaultPlanInput): void;
  /** The requests that each rule of the fault plan has matched, and those that it let fail. */
  faultCounts(): readonly RuleCounts[];
  /** Keeps the state of all objects, without copying them. */
  snapshot(): Promise<ClusterSnapshot>;
  /** Resets all objects, with their uids and without finalizers. resourceVersions go on increasing. */
  restore(snapshot: ClusterSnapshot, options?: RestoreOptions): Promise<void>;
}

type FaultPlanInput = string | Readonly<Record<string, unknown>>;

class TakenSnapshot implements ClusterSnapshot {
  constructor(
    readonly server: OpenKeelson,
    readonly content: StoreSnapshot,
  ) {}

  get objectCount(): number {
    return this.content.items.length;
  }
}

const restoredMsMax = 30_000;

export async function startTestKeelson(options: TestKeelsonOptions = {}): Promise<TestKeelson> {
  const { config = {}, faults } = options;
  const server = await startOpenKeelson({
    ...options,
    config: faults === undefined ? config : { ...config, faults: { allowed: true } },
  });
  return prepareTestServer(server, options);
}

/** Creates the fixtures and users of a server, and returns it with the methods for tests. Stops it if one is refused. */
export async function prepareTestServer(
  server: OpenKeelson,
  { crds = [], fixtures = [], admissionPolicies = [], users = {}, faults, reconciles = true }: TestServerOptions,
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
    const apply = async (objects: readonly Fixture[]) => {
      const read = await readFixtures(objects);
      if (!reconciles) refuseDefinitions(read);
      await applyFixtures(api, read);
    };
    await apply([...crds, ...fixtures, ...bindings]);
    await apply(admissionPolicies);
    const methods = testMethods(server, { api, users, files, clients, apply });
    if (faults !== undefined) methods.setFaults(faults);
    return { ...server, ...methods, stop };
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
    setFaults: (plan: FaultPlanInput) => {
      const { faults } = server.components;
      if (!faults) throw new Error('startKeelson() allows faults only with the option `faults`, such as {}');
      faults.setPlan(parseFaultPlan(typeof plan === 'string' ? plan : stringifyJson(plan)));
    },
    faultCounts: () => server.components.faults?.counts.rules ?? [],
    snapshot: async () => {
      if (server.storeIsShared) throw new Error('snapshot() needs a store that belongs to this server alone');
      const root = `${server.context.config.storage.etcd.prefix}/`;
      return new TakenSnapshot(server, await takeStoreSnapshot(server.store, root));
    },
    restore: async (snapshot: ClusterSnapshot, { watches = 'events' }: RestoreOptions = {}) => {
      if (!(snapshot instanceof TakenSnapshot) || snapshot.server !== server) {
        throw new TypeError('restore() needs the result of snapshot() of the same server');
      }
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
