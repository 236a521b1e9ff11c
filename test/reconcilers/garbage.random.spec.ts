import type { KubeObject, OwnerReference } from '../../src/machinery/kube-object.js';
import { SeededRng } from '../../src/std/rng.js';
import type { HttpClient } from '../harness/http-client.js';
import { startTestServer, type TestServer } from '../harness/servers.js';
import { untilGone } from '../harness/until.js';

const merge = { 'content-type': 'application/merge-patch+json' };
const policies = ['Background', 'Foreground', 'Orphan'];
const objectsCount = 40;
const deletionsCount = 12;

let server: TestServer;
let admin: HttpClient;
beforeAll(async () => {
  server = await startTestServer({ store: 'memory', naming: 'kubernetes' });
  admin = server.admin;
});
afterAll(() => server.stop());

/** Returns all objects of the collection by name. */
async function stateOf(collection: string): Promise<Map<string, KubeObject>> {
  const items = (await admin.get(collection)).body.items as KubeObject[];
  const made = items.filter(({ metadata }) => metadata.name!.startsWith('o'));
  return new Map(made.map((object) => [object.metadata.name!, object]));
}

/** Waits for a pass over all pending objects: this object is processed last. */
async function settled(collection: string): Promise<void> {
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'never', uid: '11111111-2222-3333-4444-555555555555' };
  await admin.post(collection, { metadata: { name: 'marker', ownerReferences: [owner] } });
  await untilGone(admin, collection, 'marker');
}

it.each([1, 2, 3, 4, 5, 113, 156, 164])(
  'after random deletions every remaining object has an owner or needs none; seed %d',
  async (seed) => {
    const rng = new SeededRng(seed);
    const namespace = `random-${seed}`;
    const collection = `/api/v1/namespaces/${namespace}/configmaps`;
    await admin.post('/api/v1/namespaces', { metadata: { name: namespace } });
    const names = Array.from({ length: objectsCount }, (_, at) => `o${at}`);
    const uids = new Map<string, string>();
    for (const name of names) uids.set(name, (await admin.post(collection, { metadata: { name } })).body.metadata.uid);

    // Owners are random, so that there are cycles, and objects that own themselves.
    const owners = new Map<string, OwnerReference[]>();
    for (const name of names.filter(() => rng.below(4) > 0)) {
      const chosen = new Set(Array.from({ length: 1 + rng.below(2) }, () => names[rng.below(names.length)]!));
      const references = Array.from(chosen, (owner) => ({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        name: owner,
        uid: uids.get(owner)!,
        blockOwnerDeletion: rng.below(2) === 0,
      }));
      owners.set(name, references);
      const body = { metadata: { ownerReferences: references } };
      expect((await admin.request('PATCH', `${collection}/${name}`, { body, headers: merge })).code).toBe(200);
    }

    const asked = new Set<string>();
    await Promise.all(
      Array.from({ length: deletionsCount }, async () => {
        const name = names[rng.below(names.length)]!;
        asked.add(name);
        await admin.delete(`${collection}/${name}?propagationPolicy=${policies[rng.below(policies.length)]}`);
      }),
    );

    const isDone = (state: Map<string, KubeObject>) =>
      [...state.values()].every(({ metadata }) => {
        const mine = metadata.ownerReferences ?? [];
        return metadata.deletionTimestamp === undefined && mine.every(({ name }) => state.has(name));
      });
    let state = await stateOf(collection);
    for (let round = 0; round < 40 && !isDone(state); round++) {
      await settled(collection);
      state = await stateOf(collection);
    }
    expect(isDone(state)).toBe(true);
    const wronged = names.filter((name) => {
      const had = owners.get(name) ?? [];
      const wasKept = had.length === 0 || had.some((owner) => state.has(owner.name));
      return !state.has(name) && !asked.has(name) && wasKept;
    });
    expect(wronged).toEqual([]);
  },
);
