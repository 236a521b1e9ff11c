import fc from 'fast-check';
import type { JsonObject } from '../../machinery/kube-object.js';
import { apply, force, ManagedObject, update, type ManagedWrite } from '../../../test/harness/managed-objects.js';
import { pathsOf } from './field-set.js';
import { readOwners } from './managed-fields.js';

/**
 * Small Pods with few different names, ports and labels, so that writers collide. Without empty lists: nobody owns one,
 * and whether it is present depends on earlier writes.
 */
const name = fc.constantFrom('a', 'b', 'c');
const value = fc.constantFrom('1', '2');
const uniqueBy = <T>(item: fc.Arbitrary<T>, key: (item: T) => string) =>
  fc.uniqueArray(item, { minLength: 1, maxLength: 3, selector: key });
const port = fc.record(
  { containerPort: fc.constantFrom(80, 81), protocol: fc.constantFrom('TCP', 'UDP'), name: value },
  { requiredKeys: ['containerPort', 'protocol'] },
);
const container = fc.record(
  {
    name,
    image: value,
    ports: uniqueBy(port, (one) => `${one.containerPort}${one.protocol}`),
    env: uniqueBy(fc.record({ name, value }), (one) => one.name),
    args: fc.array(value, { minLength: 1, maxLength: 2 }),
    securityContext: fc.record({ runAsUser: fc.constantFrom(0, 1) }, { requiredKeys: [] }),
  },
  { requiredKeys: ['name'] },
);
const body: fc.Arbitrary<JsonObject> = fc.record(
  {
    metadata: fc.record(
      { labels: fc.dictionary(name, value, { maxKeys: 3 }), finalizers: uniqueBy(name, (one) => one) },
      { requiredKeys: [] },
    ),
    spec: fc.record(
      {
        containers: uniqueBy(container, (one) => one.name),
        nodeSelector: fc.dictionary(name, value, { maxKeys: 2 }),
        hostNetwork: fc.boolean(),
      },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: [] },
);
const write: fc.Arbitrary<ManagedWrite> = fc
  .tuple(fc.constantFrom(apply, force, update), fc.constantFrom('m1', 'm2', 'm3'), body)
  .map(([verb, by, given]) => verb(by, given));
const history = fc.array(write, { maxLength: 6 });

const podAfter = (writes: readonly ManagedWrite[]) => {
  const pod = ManagedObject.of('', 'v1', 'Pod');
  for (const one of writes) pod.write(one);
  return pod;
};
const recordOf = (pod: ManagedObject) =>
  readOwners((pod.live?.['metadata'] as JsonObject | undefined)?.['managedFields'])!;

describe('after any sequence of writes', () => {
  it('applying a configuration again changes nothing', () => {
    fc.assert(
      fc.property(history, body, (writes, config) => {
        const pod = podAfter(writes);
        pod.write(force('m1', config));
        // An object without owners gets its first one with the next apply.
        fc.pre(recordOf(pod).size > 0);
        const { live } = pod;
        expect(pod.write(apply('m1', config))).toBeUndefined();
        expect(pod.live).toEqual(live);
      }),
    );
  });

  it('without force, an apply takes no field from another owner', () => {
    fc.assert(
      fc.property(history, body, (writes, config) => {
        const pod = podAfter(writes);
        const before = recordOf(pod);
        pod.write(apply('m4', config));
        const after = recordOf(pod);
        for (const [id, { fields }] of before) expect(after.get(id)?.fields).toEqual(fields);
      }),
    );
  });

  it('disjoint appliers commute', () => {
    fc.assert(
      fc.property(history, body, body, (writes, one, other) => {
        const first = { metadata: one['metadata'] ?? {} };
        const second = { spec: other['spec'] ?? {} };
        const [a, b] = [podAfter(writes), podAfter(writes)];
        a.write(force('m4', first));
        a.write(force('m5', second));
        b.write(force('m5', second));
        b.write(force('m4', first));
        expect(a.content()).toEqual(b.content());
        expect(a.owners().sort()).toEqual(b.owners().sort());
      }),
    );
  });

  it('an applier owns all fields of its configuration', () => {
    fc.assert(
      fc.property(history, body, (writes, config) => {
        const pod = podAfter(writes);
        pod.write(force('m1', config));
        const paths = (of: ManagedObject, id: string) => [...pathsOf(recordOf(of).get(id)?.fields ?? {})].join(' ');
        const alone = podAfter([apply('m1', config)]);
        expect(paths(pod, 'm1\0Apply\0\0')).toBe(paths(alone, 'm1\0Apply\0\0'));
      }),
    );
  });

  it('every owner owns a field, and managedFields survive being written and read', () => {
    fc.assert(
      fc.property(history, (writes) => {
        const pod = podAfter(writes);
        for (const { fields } of recordOf(pod).values()) expect([...pathsOf(fields)]).not.toHaveLength(0);
        const { live } = pod;
        pod.live = live && (JSON.parse(JSON.stringify(live)) as JsonObject);
        pod.write(update('m9', (same) => same));
        expect(pod.live).toEqual(live ?? pod.live);
      }),
    );
  });

  it('arguments are not changed', () => {
    fc.assert(
      fc.property(history, write, (writes, last) => {
        const pod = podAfter(writes);
        const before = JSON.stringify([pod.live, last.body]);
        const { live } = pod;
        pod.write(last);
        expect(JSON.stringify([live, last.body])).toBe(before);
      }),
    );
  });
});
