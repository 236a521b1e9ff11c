import { cpuMsOf } from '../../../test/harness/cpu-time.js';
import { capUpdaters } from './cap-updaters.js';
import { ownerId, type Owner, type Owners } from './managed-fields.js';

function updaters(count: number, fieldsEach: number): Owners {
  const owners: Owners = new Map();
  for (let index = 0; index < count; index++) {
    const names = Array.from({ length: fieldsEach }, (_, field) => [`f:k${index}-${field}`, {}] as const);
    const owner: Owner = {
      manager: `m${String(index).padStart(4, '0')}`,
      operation: 'Update',
      apiVersion: 'v1',
      subresource: '',
      time: undefined,
      fields: { 'f:data': Object.fromEntries(names) },
    };
    owners.set(ownerId(owner), owner);
  }
  return owners;
}

it('capUpdaters joins the oldest updaters', () => {
  const capped = Array.from(capUpdaters(updaters(30, 2)).values());
  expect(capped).toHaveLength(10);
  const ancient = capped.find(({ manager }) => manager === 'ancient-changes')!;
  expect(Object.keys(ancient.fields['f:data']!)).toHaveLength(2 * 21);
  expect(Object.keys(ancient.fields['f:data']!)).toEqual([...Object.keys(ancient.fields['f:data']!)].sort());
});

it('capUpdaters joins 1,000 updaters of 50,000 fields in less than two seconds', () => {
  expect(cpuMsOf(() => void capUpdaters(updaters(1000, 50)), 2000)).toBeLessThan(2000);
});
