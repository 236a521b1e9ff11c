import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fetchedGoPackages } from '../../scripts/catalog/go-packages.js';
import { Catalog } from '../../src/catalog/catalog.js';
import { protobufEncoding } from '../../src/codec/protobuf.js';
import { namingProfile } from '../../src/config/naming-profile.js';

/** Objects with every field set, as the published Go packages carry them: as JSON, and as their marshallers write it. */
const found = fetchedGoPackages();
const folder = found && join(found.sources, 'k8s.io/api/testdata/HEAD');
const names = folder && existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.pb')) : [];
/** Its envelope names no kind, since it is only ever part of a stream. */
const withoutKind = 'core.v1.WatchEvent.pb';
const samples = names.filter((name) => name !== withoutKind);

const catalog = new Catalog(namingProfile('kubernetes'));
const encoding = protobufEncoding('application/vnd.kubernetes.protobuf', () => catalog);

if (samples.length === 0) {
  process.stderr.write('skipped: protobuf as Go writes it: run `node dist/scripts/gen-catalog.js --fetch` on Debian\n');
  describe.skip('protobuf as Go writes it', () => it('is not there', () => undefined));
} else {
  it.each(samples)('%s', (name) => {
    const bytes = readFileSync(join(folder!, name));
    const object: unknown = JSON.parse(readFileSync(join(folder!, name.replace(/pb$/, 'json')), 'utf8'));
    expect(encoding.decode(bytes).value).toEqual(object);
    expect(encoding.encode(object).equals(bytes)).toBe(true);
    expect(encoding.encode(encoding.decode(bytes).value).equals(bytes)).toBe(true);
  });
}
