import fs, { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../../test/harness/eventually.js';
import { logDestination } from './log-destination.js';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'keelson-log-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Opens a file that the test closes at its end. */
const opened: number[] = [];
afterEach(() => opened.splice(0).forEach((fd) => closeSync(fd)));
function open(path: string): number {
  const fd = openSync(path, 'w');
  opened.push(fd);
  return fd;
}

const linesOf = (path: string) => readFileSync(path, 'utf8').split('\n').slice(0, -1);

it('writes all lines in their order', async () => {
  const path = join(folder, 'log');
  const destination = logDestination(open(path));
  const lines = Array.from({ length: 1000 }, (_, index) => `line ${index}`);
  for (const line of lines) destination.write(`${line}\n`);
  await eventually('all lines are in the file', () => linesOf(path).length === lines.length);
  expect(linesOf(path)).toEqual(lines);
});

it('loses lines that it cannot keep while others are written, and says how many', async () => {
  const path = join(folder, 'log');
  const lines = Array.from({ length: 9 }, (_, index) => `line ${index}`.padEnd(199));
  const destination = logDestination(open(path), 600);
  for (const line of lines) destination.write(`${line}\n`);
  await eventually('the loss is logged', () => linesOf(path).length === 4);
  const [first, second, third, loss] = linesOf(path);
  expect([first, second, third]).toEqual(lines.slice(0, 3));
  expect(JSON.parse(loss!)).toMatchObject({ level: 40, lines: 6, msg: expect.stringContaining('lost log lines') });
});

it('writes lines that a full disk refused when there is space again', async () => {
  const path = join(folder, 'log');
  const destination = logDestination(open(path));
  const full = Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
  let refused = 0;
  const write = jest.spyOn(fs, 'write').mockImplementation((...words: unknown[]) => {
    refused++;
    setImmediate(words.at(-1) as (error: Error) => void, full);
  });
  try {
    for (const line of ['first', 'second']) {
      destination.write(`${line}\n`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  } finally {
    write.mockRestore();
  }
  expect([refused, linesOf(path)]).toEqual([2, []]);
  destination.write('third\n');
  await eventually('all lines are in the file', () => linesOf(path).length === 3);
  expect(linesOf(path)).toEqual(['first', 'second', 'third']);
});
