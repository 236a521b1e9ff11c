import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  createReadStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { ManualClock, systemClock } from '../std/clock.js';
import { LogFile } from './log-file.js';

const megabyte = 1024 * 1024;
let directory: string;
let path: string;
const opened: LogFile[] = [];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'keelson-log-file-'));
  path = join(directory, 'logs', 'audit.log');
});
afterEach(async () => {
  for (const log of opened.splice(0)) await log.close();
  rmSync(directory, { recursive: true, force: true });
});

const clock = new ManualClock(Date.UTC(2026, 0, 2, 3, 4, 5, 678));
const logged: string[] = [];
const log = (message: string) => void logged.push(message);

async function open(options: Partial<Parameters<typeof LogFile.open>[0]> = {}): Promise<LogFile> {
  const file = await LogFile.open({
    ...{ path, compresses: false, daysMax: 0, filesMax: 0, megabytesMax: 0, clock },
    logger: { debug: log, info: log, warn: log, error: log },
    ...options,
  });
  opened.push(file);
  return file;
}

const entry = (text: string) => [Buffer.from(text), Buffer.from('\n')];
const text = () => readFileSync(path, 'utf8');
const names = () => readdirSync(join(directory, 'logs')).sort();
/** An entry of a bit less than half a megabyte. */
const half = (letter: string) => entry(letter.repeat(0.45 * megabyte));

describe('a log file', () => {
  it('is created for its owner only, with its directory', async () => {
    const file = await open();
    await file.append([entry('a')]);
    expect(text()).toBe('a\n');
    expect((statSync(path).mode & 0o777).toString(8)).toBe('600');
    expect((statSync(join(directory, 'logs')).mode & 0o777).toString(8)).toBe('700');
  });

  it('is appended to if it exists, and keeps its mode', async () => {
    await (await open()).close();
    writeFileSync(path, 'before\n');
    chmodSync(path, 0o640);
    await (await open()).append([entry('a')]);
    expect(text()).toBe('before\na\n');
    expect((statSync(path).mode & 0o777).toString(8)).toBe('640');
  });

  it('begins a new line after one that was cut off', async () => {
    await (await open()).close();
    writeFileSync(path, '{"cut');
    await (await open()).append([entry('a')]);
    expect(text()).toBe('{"cut\na\n');
  });

  it('has entries of concurrent calls in their order', async () => {
    const file = await open();
    const results = await Promise.all(['a', 'b', 'c'].map((letter) => file.append([entry(letter), entry(letter)])));
    expect(text()).toBe('a\na\nb\nb\nc\nc\n');
    expect(results).toEqual(Array(3).fill({ written: 2, error: undefined }));
  });

  it('that cannot be opened is an error', async () => {
    writeFileSync(join(directory, 'logs'), '');
    await expect(open()).rejects.toThrow();
  });

  it('that cannot be written loses entries, and tells which', async () => {
    const file = await open({ path: '/dev/full' });
    const { written, error } = await file.append([entry('a'), entry('b')]);
    expect([written, (error as Error).message]).toEqual([0, expect.stringContaining('ENOSPC')]);
  });
});

describe('rotation', () => {
  it('names rotated files by their time', async () => {
    const file = await open({ megabytesMax: 1 });
    for (const letter of ['a', 'b', 'c']) await file.append([half(letter)]);
    expect(names()).toEqual(['audit-2026-01-02T03-04-05.678.log', 'audit.log']);
    expect([text()[0], text().length]).toEqual(['c', half('c')[0]!.length + 1]);
    expect((statSync(path).mode & 0o777).toString(8)).toBe('600');
  });

  it('never replaces a rotated file, however fast it is', async () => {
    const file = await open({ megabytesMax: 1 });
    await file.append(Array.from('abcdefgh', half));
    expect(names()).toEqual([
      'audit-2026-01-02T03-04-05.678.log',
      'audit-2026-01-02T03-04-05.679.log',
      'audit-2026-01-02T03-04-05.680.log',
      'audit.log',
    ]);
  });

  it('counts what the file already has', async () => {
    await (await open()).append([half('a'), half('b')]);
    await (await open({ megabytesMax: 1 })).append([half('c')]);
    expect([names().length, text()[0]]).toEqual([2, 'c']);
  });

  it('writes an entry that is larger than a file into one of its own', async () => {
    const file = await open({ megabytesMax: 1 });
    const result = await file.append([entry('a'), entry('b'.repeat(2 * megabyte)), entry('c')]);
    expect([result.written, names().length, text()]).toEqual([3, 3, 'c\n']);
  });

  it('keeps the newest files', async () => {
    const file = await open({ megabytesMax: 1, filesMax: 2 });
    await file.append(Array.from('abcdefghij', half));
    await file.close();
    expect(names()).toEqual(['audit-2026-01-02T03-04-05.680.log', 'audit-2026-01-02T03-04-05.681.log', 'audit.log']);
  });

  it('removes files that are too old, and no others', async () => {
    await (await open()).close();
    const others = [
      'audit-2025-12-31T03-04-05.678.log',
      'audit-2025-12-01T00-00-00.000.log',
      'audit-x.log',
      'audit-2025-01-01T00-00-00.000.txt',
    ];
    for (const name of others) writeFileSync(join(directory, 'logs', name), 'x');
    await (await open({ megabytesMax: 1, daysMax: 10 })).close();
    expect(names()).toEqual([
      'audit-2025-01-01T00-00-00.000.txt',
      'audit-2025-12-31T03-04-05.678.log',
      'audit-x.log',
      'audit.log',
    ]);
  });

  it('compresses files, and counts a file once while it is compressed', async () => {
    const file = await open({ megabytesMax: 1, compresses: true, filesMax: 3 });
    await file.append(Array.from('abcdef', half));
    await file.close();
    expect(names()).toEqual([
      'audit-2026-01-02T03-04-05.678.log.gz',
      'audit-2026-01-02T03-04-05.679.log.gz',
      'audit.log',
    ]);
    const first = join(directory, 'logs', 'audit-2026-01-02T03-04-05.678.log.gz');
    expect(gunzipSync(readFileSync(first)).toString()).toBe([...half('a'), ...half('b')].join(''));
    expect((statSync(first).mode & 0o777).toString(8)).toBe('600');
  });

  it('that fails appends to the old file', async () => {
    const file = await open({ megabytesMax: 1 });
    await file.append([half('a'), half('b')]);
    // Without the directory, nothing can be renamed.
    rmSync(join(directory, 'logs'), { recursive: true });
    logged.length = 0;
    const results = [await file.append([half('c')]), await file.append([half('d')])];
    expect(results).toEqual(Array(2).fill({ written: 1, error: undefined }));
    expect([logged, existsSync(path)]).toEqual([['the audit log could not be rotated; its last file grows'], false]);
  });

  it('leaves no descriptor open', async () => {
    const descriptors = () => readdirSync('/proc/self/fd').length;
    const file = await open({ megabytesMax: 1, compresses: true, filesMax: 2 });
    await file.append([half('a')]);
    const before = descriptors();
    for (let round = 0; round < 20; round++) await file.append([half('b'), half('c')]);
    await file.close();
    expect(descriptors()).toBeLessThan(before);
  });
});

const describeOnPosix = process.platform === 'win32' ? describe.skip : describe;

describeOnPosix('a named pipe', () => {
  beforeEach(() => {
    mkdirSync(join(directory, 'logs'));
    execFileSync('mkfifo', [path]);
  });

  it('gets all entries in their order from a writer that waits for its reader, and is not rotated', async () => {
    const pipe = await open({ megabytesMax: 1, clock: systemClock });
    const appended = ['a', 'b', 'c'].map((letter) => pipe.append([half(letter)]));
    let isDone = false;
    const all = Promise.all(appended).finally(() => (isDone = true));
    const reader = createReadStream(path, 'utf8');
    let read = '';
    for await (const chunk of reader) {
      if (read === '') expect(isDone).toBe(false);
      read += String(chunk);
      if (read.split('\n').length > 3) break;
    }
    expect(await all).toEqual(Array(3).fill({ written: 1, error: undefined }));
    expect(read.split('\n').map((line) => [line[0], line.length])).toEqual([
      ...['a', 'b', 'c'].map((letter) => [letter, half(letter)[0]!.length]),
      [undefined, 0],
    ]);
    expect(names()).toEqual(['audit.log']);
  });

  it('is no longer waited for after abandon()', async () => {
    const pipe = await open({ clock: systemClock });
    const appended = pipe.append([entry('first'), half('x')]);
    pipe.abandon();
    const { written, error } = await appended;
    expect([written, (error as NodeJS.ErrnoException).code]).toEqual([1, 'EAGAIN']);
  });
});
