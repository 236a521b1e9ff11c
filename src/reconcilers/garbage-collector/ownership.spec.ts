import { Ownership } from './ownership.js';

const reference = (name: string, kind = 'ReplicaSet') => ({ apiVersion: 'apps/v1', kind, name, uid: `uid-${name}` });
const ownerName = (name: string, namespace?: string, kind = 'ReplicaSet') => ({ group: 'apps', kind, namespace, name });

it('finds dependents by the name of their owner, in one namespace or in all', () => {
  const ownership = new Ownership();
  ownership.set('pods/a/1', 'a', [reference('web')]);
  ownership.set('pods/a/2', 'a', [reference('web'), reference('db')]);
  ownership.set('pods/b/3', 'b', [reference('web')]);
  ownership.set('pods/b/4', 'b', [reference('web', 'Deployment')]);
  const keys = (...where: Parameters<typeof ownerName>) =>
    Array.from(ownership.named(ownerName(...where)), ({ key }) => key);
  expect(keys('web', 'a')).toEqual(['pods/a/1', 'pods/a/2']);
  expect(keys('web')).toEqual(['pods/a/1', 'pods/a/2', 'pods/b/3']);
  expect(keys('db', 'a')).toEqual(['pods/a/2']);
  expect(keys('db', 'b')).toEqual([]);
  expect(keys('web', 'b', 'Deployment')).toEqual(['pods/b/4']);
});

it('frees the memory of removed ownerReferences', () => {
  const ownership = new Ownership();
  ownership.set('pods/a/1', 'a', [reference('web'), reference('web')]);
  ownership.set('pods/a/1', 'a', [reference('db')]);
  expect([...ownership.named(ownerName('web', 'a'))]).toEqual([]);
  ownership.set('pods/a/1', 'a', []);
  expect([...ownership.named(ownerName('db', 'a'))]).toEqual([]);
  expect(ownership.size).toBe(0);
  expect((ownership as unknown as { byOwner: Map<string, unknown> }).byOwner.size).toBe(0);
});
