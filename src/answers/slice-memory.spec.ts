import { SliceMemory } from './slice-memory.js';

describe('SliceMemory', () => {
  it('takes the memory of a slice that was given back for another one of about its length', () => {
    const memory = new SliceMemory();
    const first = memory.take(70_000);
    expect(first).toHaveLength(70_000);
    expect(memory.take(70_000).buffer).not.toBe(first.buffer);
    memory.giveBack(first);
    const second = memory.take(100_000);
    expect(second).toHaveLength(100_000);
    expect(second.buffer).toBe(first.buffer);
    expect(memory.take(100_000).buffer).not.toBe(first.buffer);
  });

  it('gives slices of other lengths other memory', () => {
    const memory = new SliceMemory();
    const large = memory.take(200_000);
    memory.giveBack(large);
    expect(memory.take(70_000).buffer).not.toBe(large.buffer);
    expect(memory.take(262_144).buffer).toBe(large.buffer);
  });

  it('keeps neither short slices nor more than eight of a length', () => {
    const memory = new SliceMemory();
    const short = memory.take(1000);
    memory.giveBack(short);
    expect(memory.take(1000).buffer).not.toBe(short.buffer);
    const many = Array.from({ length: 9 }, () => memory.take(20_000));
    for (const slice of many) memory.giveBack(slice);
    const again = Array.from({ length: 9 }, () => memory.take(20_000).buffer);
    expect(again.filter((buffer) => many.some((slice) => slice.buffer === buffer))).toHaveLength(8);
  });
});
