import { systemRng } from './rng.js';

it('makes random UUIDs of version 4, each another', () => {
  const uuids = Array.from({ length: 10_000 }, () => systemRng.uuid());
  expect(new Set(uuids).size).toBe(uuids.length);
  for (const uuid of uuids)
    expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  const fixed = new Set([8, 13, 14, 18, 19, 23]);
  for (let at = 0; at < 36; at++) {
    const digits = new Set(uuids.map((uuid) => uuid[at]));
    if (!fixed.has(at)) expect(digits.size).toBe(16);
  }
});
