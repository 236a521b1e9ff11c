import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ManualClock } from '../../std/clock.js';
import { CheckpointArchives } from './checkpoint-archives.js';

let directory: string;
beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'keelson-archives-'))));
afterEach(() => rmSync(directory, { recursive: true }));

const archive = (location: string) => writeFile(location, 'memory of processes');
const names = () => readdirSync(directory).sort();

it('archives of one second get the names of the next seconds, also after a restart', async () => {
  const clock = new ManualClock();
  const first = new CheckpointArchives(directory, clock);
  await Promise.all([first.write('a', archive), first.write('a', archive), first.write('b', archive)]);
  await new CheckpointArchives(directory, clock).write('a', archive);
  const secondsOf = (name: string) =>
    names().flatMap((file) => new RegExp(`-${name}-.*:(\\d\\d)Z`).exec(file)?.[1] ?? []);
  expect([secondsOf('a'), secondsOf('b')]).toEqual([['00', '01', '02'], ['00']]);
  clock.advance(60_000);
  await first.write('a', archive);
  expect(names().at(2)).toContain('T00:00:02Z');
  expect(names().at(3)).toContain('T00:01:00Z');
});

it('an archive that fails is removed', async () => {
  const archives = new CheckpointArchives(directory, new ManualClock());
  const half = async (location: string) => {
    await archive(location);
    throw new Error('the runtime failed');
  };
  await expect(archives.write('a', half)).rejects.toThrow('the runtime failed');
  expect(names()).toEqual([]);
});

it('the name of an archive costs as much beside thousands of one second as beside none', async () => {
  const archives = new CheckpointArchives(directory, new ManualClock());
  const costs: number[] = [];
  for (let batch = 0; batch < 20; batch++) {
    const before = process.cpuUsage();
    for (let at = 0; at < 100; at++) await archives.write('a', archive);
    const { user, system } = process.cpuUsage(before);
    costs.push(user + system);
  }
  expect(Math.min(...costs.slice(-5))).toBeLessThan(4 * Math.min(...costs.slice(0, 5)));
});
