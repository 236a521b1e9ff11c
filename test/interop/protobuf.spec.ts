import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import protobufjs from 'protobufjs';
import { fetchedGoPackages } from '../../scripts/catalog/go-packages.js';
import { Catalog } from '../../src/catalog/catalog.js';
import { protobufEncoding } from '../../src/codec/protobuf.js';
import { namingProfile } from '../../src/config/naming-profile.js';
import { anyObject } from '../harness/any-object.js';

/** Compares our protobuf with the published Go packages: their samples, and their .proto files. */
const found = fetchedGoPackages();
const how = 'run `npm run build && node dist/scripts/gen-catalog.js --fetch` on a Debian-like system';
const catalog = new Catalog(namingProfile('kubernetes'));
const encoding = protobufEncoding('application/vnd.kubernetes.protobuf', () => catalog);

if (found === undefined) {
  process.stderr.write(`skipped: protobuf as Go writes it: ${how}\n`);
  describe.skip(`protobuf as Go encodes it (${how})`, () => it('is not available', () => undefined));
} else {
  describe('objects with every field set, as Go encodes them', () => samples(found.sources));
  describe('any object', () => peers(found.sources));
}

function samples(sources: string): void {
  const folder = join(sources, 'k8s.io/api/testdata/HEAD');
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.pb')) : [];
  // Its envelope names no kind, since it occurs only in streams.
  const withoutKind = 'core.v1.WatchEvent.pb';

  it('exist', () => expect(names.length).toBeGreaterThan(100));
  it.each(names.filter((name) => name !== withoutKind))('%s is decoded and encoded to the same bytes', (name) => {
    const bytes = readFileSync(join(folder, name));
    const object: unknown = JSON.parse(readFileSync(join(folder, name.replace(/pb$/, 'json')), 'utf8'));
    expect(encoding.decode(bytes).value).toEqual(object);
    expect(encoding.encode(object).equals(bytes)).toBe(true);
    expect(encoding.encode(encoding.decode(bytes).value).equals(bytes)).toBe(true);
  });

  it(withoutKind, () => {
    const event = messageWithin(readFileSync(join(folder, withoutKind)));
    // WatchEvent { 1: type, 2: RawExtension { 1: object } }
    const reader = protobufjs.Reader.create(event);
    const part = () => (reader.uint32(), Buffer.from(reader.bytes()));
    const [type, extension] = [part(), part()];
    const object = protobufjs.Reader.create(extension);
    object.uint32();
    const frame = encoding.frame!(type.toString(), Buffer.from(object.bytes()));
    expect(frame.readUInt32BE()).toBe(event.length);
    expect(frame.subarray(4).equals(event)).toBe(true);
  });
}

function peers(sources: string): void {
  const packages = new Map<string, string>();
  let root: protobufjs.Root;

  beforeAll(() => {
    root = new protobufjs.Root();
    root.resolvePath = (_origin, target) => join(sources, target);
    for (const file of protoFiles(sources)) {
      const name = /^package ([\w.]+);/m.exec(readFileSync(join(sources, file), 'utf8'))![1]!;
      packages.set(name.split('.').slice(-2).join('.'), name);
      root.loadSync(file, { keepCase: true });
    }
    root.resolveAll();
  });

  it('is decoded by protobufjs with the .proto files, and encoded to the same bytes', () => {
    let compared = 0;
    fc.assert(
      fc.property(anyObject(catalog), ({ type: typeName, object }) => {
        const [, short = '', name = ''] = /^(.*)\.(\w+)$/.exec(typeName) ?? [];
        const path = packages.get(short);
        if (path === undefined) return;
        const raw = messageWithin(encoding.encode(object));
        const type = root.lookupType(`${path}.${name}`);
        expect(Buffer.from(type.encode(type.decode(raw)).finish()).equals(raw)).toBe(true);
        compared++;
      }),
      { numRuns: 500 },
    );
    expect(compared).toBeGreaterThan(400);
  });
}

function protoFiles(sources: string): string[] {
  const files = ['k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1/generated.proto'];
  for (const name of readdirSync(join(sources, 'k8s.io/api'), { recursive: true, encoding: 'utf8' })) {
    if (name.endsWith('/generated.proto')) files.push(`k8s.io/api/${name}`);
  }
  return files;
}

/** Content of the envelope: field 2, without its tag and length. */
function messageWithin(bytes: Buffer): Buffer {
  const { itemStart, itemEnd } = encoding.list!;
  const reader = protobufjs.Reader.create(bytes.subarray(itemStart(bytes) + 1, itemEnd(bytes)));
  return Buffer.from(reader.bytes());
}
