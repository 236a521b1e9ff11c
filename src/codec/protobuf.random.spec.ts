import fc from 'fast-check';
import { anyObject } from '../../test/harness/any-object.js';
import { Catalog } from '../catalog/catalog.js';
import { namingProfile } from '../config/naming-profile.js';
import { EncodeError } from './encode-error.js';
import { protobufEncoding } from './protobuf.js';

const catalog = new Catalog(namingProfile('kubernetes'));
const encoding = protobufEncoding('application/x-protobuf', () => catalog);

it('any object of any kind is encoded, decoded and encoded again to the same bytes', () => {
  fc.assert(
    fc.property(anyObject(catalog), ({ object }) => {
      const bytes = encoding.encode(object);
      const read = encoding.decode(bytes).value;
      expect(encoding.encode(read).equals(bytes)).toBe(true);
      expect(read).toMatchObject(withoutZeros(object) as object);
    }),
    { numRuns: 600 },
  );
});

it('any JSON in place of any part of an object is encoded or throws EncodeError', () => {
  const changed = anyObject(catalog).chain(({ object }) => {
    const paths = pathsOf(object);
    return fc.tuple(fc.nat(), fc.jsonValue({ maxDepth: 2 })).map(([choice, value]) => {
      const path = paths[choice % paths.length]!;
      return withValue(object, path, value);
    });
  });
  fc.assert(
    fc.property(changed, (object) => {
      try {
        encoding.encode(object);
      } catch (error) {
        expect(error).toBeInstanceOf(EncodeError);
      }
    }),
    { numRuns: 600 },
  );
});

/** Removes everything that may be a zero. */
function withoutZeros(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(withoutZeros);
  const kept = Object.entries(value).filter(([, part]) => part !== '' && part !== 0 && part !== false);
  return Object.fromEntries(kept.map(([name, part]) => [name, withoutZeros(part)]));
}

type Path = readonly string[];

function pathsOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([name, part]) => pathsOf(part, [...path, name]))];
}

function withValue(whole: unknown, [name, ...rest]: Path, value: unknown): unknown {
  if (name === undefined) return value;
  const parts = whole as Readonly<Record<string, unknown>>;
  const part = withValue(parts[name], rest, value);
  return Array.isArray(whole)
    ? whole.map((item: unknown, at) => (String(at) === name ? part : item))
    : { ...parts, [name]: part };
}
