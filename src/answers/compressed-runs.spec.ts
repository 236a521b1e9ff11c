import { EncodedObject } from '../cache/encoded-object.js';
import { revisionOf } from '../machinery/revision.js';
import { CompressedRuns } from './compressed-runs.js';

const object = (name: string, revision: number): EncodedObject =>
  new EncodedObject(name, revisionOf(revision), Buffer.from('{}'), {
    ...{ namespace: '', name, labels: undefined, fields: {} },
  });
const part = (bytes: number) => ({ bytes: Buffer.alloc(bytes), length: 1, crc: 0 });
const both = { first: 0, end: 2 };

describe('CompressedRuns', () => {
  it('finds a run of the same revisions in the same rendering', () => {
    const runs = new CompressedRuns();
    const [a, b] = [object('a', 1), object('b', 2)];
    const added = part(10);
    runs.add('json', [a, b], added);
    expect(runs.find('json', [a, b], both)).toBe(added);
    expect(runs.find('protobuf', [a, b], both)).toBeUndefined();
    expect(runs.find('json', [a, object('b', 3)], both)).toBeUndefined();
    expect(runs.find('json', [a, b], { first: 0, end: 1 })).toBeUndefined();
  });

  it('drops runs that were not read while a generation was filled', () => {
    const runs = new CompressedRuns(1000);
    const objects = Array.from({ length: 20 }, (_, i) => object(`o${i}`, i + 1));
    const [used, unused, ...others] = objects;
    for (const each of [used!, unused!]) runs.add('json', [each], part(200));
    const isKept = (each: EncodedObject) => runs.find('json', [each], { first: 0, end: 1 }) !== undefined;
    for (const each of others) {
      runs.add('json', [each], part(200));
      expect(isKept(used!)).toBe(true);
    }
    expect(isKept(unused!)).toBe(false);
    expect(objects.filter(isKept).length).toBeLessThanOrEqual(10);
  });
});
