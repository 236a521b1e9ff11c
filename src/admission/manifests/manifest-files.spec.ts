import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atOnce } from '../../std/steps.js';
import { decodeManifest, manifestFiles } from './manifest-files.js';

let directory: string;
beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'keelson-manifest-files-'))));
afterEach(() => rmSync(directory, { recursive: true, force: true }));
const write = (name: string, text: string) => writeFileSync(join(directory, name), text);

it('lists manifests by name, also behind symbolic links', async () => {
  for (const name of ['b.yaml', 'a.JSON', 'c.yml', 'd.txt', '.hidden']) write(name, '');
  mkdirSync(join(directory, 'directory.yaml'));
  symlinkSync(join(directory, 'd.txt'), join(directory, 'linked.yaml'));
  const found = await manifestFiles(directory, 10);
  expect(found).toEqual(['a.JSON', 'b.yaml', 'c.yml', 'linked.yaml'].map((name) => join(directory, name)));
});

it('rejects a device, which would be read for ever', async () => {
  symlinkSync('/dev/zero', join(directory, 'a.yaml'));
  await expect(manifestFiles(directory, 10)).rejects.toThrow('a.yaml is not a regular file');
});

it('rejects a file beyond the limit', async () => {
  write('a.yaml', 'a: 123456789');
  await expect(manifestFiles(directory, 10)).rejects.toThrow('a.yaml has more than 10 bytes');
});

const decode = (text: string, valuesMax = 100) => atOnce(decodeManifest(Buffer.from(text), valuesMax));

it.each<[string, string, unknown[]]>([
  ['nothing', '', []],
  ['blanks and comments', ' \n# a\n\n', []],
  ['one document', 'a: 1\n', [{ a: 1 }]],
  ['JSON', '{"a": [1]}', [{ a: [1] }]],
  ['documents, some of them empty', '---\na: 1\n--- # next\n---\n---\r\nb: "---"\n', [{ a: 1 }, { b: '---' }]],
  ['a block with dashes', 'a: |\n  ---\n  b\n---\nc: 1', [{ a: '---\nb\n' }, { c: 1 }]],
])('decodes %s', (_what, text, want) => expect(decode(text)).toEqual(want));

it('rejects more values than the limit', () => expect(() => decode('[1, 2, 3, 4]', 3)).toThrow());
