import { mkdtempSync, readdirSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { ManualClock } from '../std/clock.js';
import { silentLogger } from '../std/logger.js';
import { LiveFiles } from './live-files.js';

const directory = mkdtempSync(join(tmpdir(), 'live-files-'));
const file = join(directory, 'file');
const opened: LiveFiles<string>[] = [];
afterEach(() => opened.splice(0).forEach((files) => files.close()));
afterAll(() => rmSync(directory, { recursive: true }));

interface Given {
  readonly awaitsEndOfChange?: boolean;
  readonly rereadMs?: number;
  readonly clock?: ManualClock;
}

async function open(given: Given = {}) {
  writeFileSync(file, 'a');
  const failures = { count: 0 };
  const files = await LiveFiles.open<string>({
    files: [file],
    parse: async ([bytes]) => {
      await Promise.resolve();
      if (bytes!.length === 0) throw new Error('the file is empty');
      return bytes!.toString();
    },
    onFailure: () => void failures.count++,
    clock: new ManualClock(),
    logger: silentLogger,
    ...given,
  });
  opened.push(files);
  const refreshed = async () => {
    await files.refresh();
    return files.current();
  };
  return { files, failures, refreshed };
}

it('a change is used at the next check, also if parsing takes time', async () => {
  const { files, refreshed } = await open();
  const seen: string[] = [];
  files.onChange((value) => seen.push(value));
  writeFileSync(file, 'changed');
  expect(await refreshed()).toBe('changed');
  expect(await refreshed()).toBe('changed');
  expect(seen).toEqual(['changed']);
});

it('the old contents stay in use while the new ones are invalid, which counts once', async () => {
  const { failures, refreshed } = await open();
  writeFileSync(file, '');
  expect([await refreshed(), await refreshed(), failures.count]).toEqual(['a', 'a', 1]);
  writeFileSync(file, 'changed');
  expect(await refreshed()).toBe('changed');
});

describe('with awaitsEndOfChange', () => {
  it('contents are used that two checks in a row have found', async () => {
    const { failures, refreshed } = await open({ awaitsEndOfChange: true });
    writeFileSync(file, '');
    expect(await refreshed()).toBe('a');
    writeFileSync(file, 'half');
    expect(await refreshed()).toBe('a');
    writeFileSync(file, 'half and half');
    expect(await refreshed()).toBe('a');
    expect(await refreshed()).toBe('half and half');
    expect(failures.count).toBe(0);
  });

  it('a file that replaces another one is used in the same way', async () => {
    const { refreshed } = await open({ awaitsEndOfChange: true });
    writeFileSync(`${file}.next`, 'changed');
    renameSync(`${file}.next`, file);
    expect([await refreshed(), await refreshed()]).toEqual(['a', 'changed']);
  });

  it('invalid contents that stay count once, and are read again when they are corrected', async () => {
    const { failures, refreshed } = await open({ awaitsEndOfChange: true });
    writeFileSync(file, '');
    for (let check = 0; check < 4; check++) expect(await refreshed()).toBe('a');
    expect(failures.count).toBe(1);
    writeFileSync(file, 'changed');
    expect([await refreshed(), await refreshed()]).toEqual(['a', 'changed']);
  });

  it('touching the file changes nothing', async () => {
    const { files, failures, refreshed } = await open({ awaitsEndOfChange: true });
    files.onChange(() => failures.count++);
    utimesSync(file, 1, 1);
    expect([await refreshed(), await refreshed(), failures.count]).toEqual(['a', 'a', 0]);
  });
});

it('the contents are compared every rereadMs, whatever the attributes are', async () => {
  const clock = new ManualClock();
  const { files, refreshed } = await open({ awaitsEndOfChange: true, rereadMs: 60_000, clock });
  writeFileSync(file, 'changed');
  // As on a file system that does not report the change.
  const own = files as unknown as { attributes: string | undefined; changedAttributes: string };
  await refreshed();
  own.attributes = own.changedAttributes;
  expect(await refreshed()).toBe('a');
  clock.advance(60_000);
  await files.idle();
  expect(await refreshed()).toBe('changed');
});

it('files that a function lists may be added, renamed and removed', async () => {
  const listed = mkdtempSync(join(directory, 'listed-'));
  const write = (name: string, text: string) => writeFileSync(join(listed, name), text);
  write('a', '1');
  const files = await LiveFiles.open<string>({
    files: () => Promise.resolve(readdirSync(listed).map((name) => join(listed, name))),
    parse: (contents, names) => contents.map((bytes, index) => `${basename(names[index]!)}=${String(bytes)}`).join(' '),
    clock: new ManualClock(),
    logger: silentLogger,
  });
  opened.push(files);
  const refreshed = async () => {
    await files.refresh();
    return files.current();
  };
  expect(await refreshed()).toBe('a=1');
  write('b', '2');
  expect(await refreshed()).toBe('a=1 b=2');
  renameSync(join(listed, 'b'), join(listed, 'c'));
  expect(await refreshed()).toBe('a=1 c=2');
  rmSync(join(listed, 'a'));
  rmSync(join(listed, 'c'));
  expect(await refreshed()).toBe('');
});
