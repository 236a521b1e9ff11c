import fc from 'fast-check';
import type { JsonObject } from '../../machinery/kube-object.js';
import { apply, force, ManagedObject, update, type ManagedWrite } from '../../../test/harness/managed-objects.js';
import { pathsOf } from './field-set.js';
import { readOwners } from './managed-fields.js';

/**
 * Pods, small enough that writers meet: names, ports and labels of which there are few. Lists are never empty: an empty
 * list belongs to nobody, and whether it is there at all depends on who wrote before.
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

describe('whatever was written before', () => {
  it('a configuration applied again changes nothing', () => {
    fc.assert(
      fc.property(history, body, (writes, config) => {
        const pod = podAfter(writes);
        pod.write(force('m1', config));
        // Who says nothing owns nothing, and what nobody owns gets an owner with the next apply.
        fc.pre(recordOf(pod).size > 0);
        const { live } = pod;
        expect(pod.write(apply('m1', config))).toBeUndefined();
        expect(pod.live).toEqual(live);
      }),
    );
  });

  it('nobody loses a field to an apply without force', () => {
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

  it('the order in which appliers come that share nothing says nothing', () => {
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

  it('the applier has what it asked for', () => {
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

  it('nobody owns nothing, and the record reads as it is written', () => {
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

  it('what was given is not changed', () => {
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
