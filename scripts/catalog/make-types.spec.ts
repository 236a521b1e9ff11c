import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../../src/config/config-files.js';
import { makeTypes } from './make-types.js';

const committed = join(packageRoot, 'src/catalog/types');

it('the committed types are generated from the committed data', () => {
  const files = makeTypes(join(packageRoot, 'src/catalog/data'));
  expect(readdirSync(committed).sort()).toEqual([...files.keys()].sort());
  for (const [name, text] of files) {
    expect([name, readFileSync(join(committed, name), 'utf8') === text]).toEqual([name, true]);
  }
});

const coreText = `
Basket {
 ... meta.v1.TypeMeta 0
 metadata meta.v1.ObjectMeta 1 ? optional
 spec BasketSpec 2 ? optional
BasketList {
 ... meta.v1.TypeMeta 0
 items []Basket 2
BasketSpec {
 ... Inlined 0
 owner *string 1 ?
 fruits []Fruit 2
 amounts Amounts 3 ?
 weight quantity 4 ?
 count int64 5
 size intOrString 6 ?
 since time 7
 until *time 8 ?
 photo bytes 9 ?
 extra {}[]string 10 ?
 raw []rawExtension 11 ?
 value *json 15 ?
 empty *Empty 12 ?
 x-large bool 13 ?
 template meta.v1.ObjectMeta 14 ?
Amounts = {}quantity
Empty {
Fruit {
 name string 1
Inlined {
 color string 1 ? 
`;
const metaText = `
ListMeta {
 continue string 1 ?
ObjectMeta {
 name string 1 ?
TypeMeta {
 kind string 1 ?
 apiVersion string 2 ?
`;

it.each([
  [
    'a kind has ObjectMeta, kind and apiVersion',
    `export type Basket = {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: ObjectMeta;
  readonly spec?: BasketSpec | undefined;
};`,
  ],
  ['the kind of a list item is optional', '  readonly items?: readonly Partial<Basket>[] | null | undefined;'],
  ['fields of inlined structs are beside the others', '  readonly color?: string | undefined;'],
  ['a list that Go always writes is nullable', '  readonly fruits?: readonly Fruit[] | null | undefined;'],
  ['an optional pointer is not nullable', '  readonly owner?: string | undefined;'],
  ['a named map is a record', '  readonly amounts?: Readonly<Record<string, string>> | undefined;'],
  ['a quantity is a string', '  readonly weight?: string | undefined;'],
  ['an int64 may be a bigint', '  readonly count?: number | bigint | undefined;'],
  ['int-or-string', '  readonly size?: number | string | undefined;'],
  ['a time that Go always writes is nullable', '  readonly since?: string | null | undefined;'],
  ['an optional time is not nullable', '  readonly until?: string | undefined;'],
  ['bytes are base64', '  readonly photo?: string | undefined;'],
  [
    'values of a map of lists are nullable',
    '  readonly extra?: Readonly<Record<string, readonly string[] | null>> | undefined;',
  ],
  ['free-form values are unknown', '  readonly raw?: readonly unknown[] | undefined;'],
  ['JSON values are unknown', '  readonly value?: unknown;'],
  ['a struct without fields', '  readonly empty?: Readonly<Record<string, never>> | undefined;'],
  ['names that are not identifiers are quoted', "  readonly 'x-large'?: boolean | undefined;"],
  ['embedded metadata is ObjectMeta', '  readonly template?: ObjectMeta | undefined;'],
])('%s', (_, want) => {
  const folder = mkdtempSync(join(tmpdir(), 'types-'));
  try {
    const file = (text: string) => `// first\n// second\nexport const x = String.raw\`${text}\`;\n`;
    writeFileSync(
      join(folder, 'packages.ts'),
      "  'shop.v1': { path: 'k8s.io/api/shop/v1' },\n  'meta.v1': { path: 'm' }",
    );
    writeFileSync(join(folder, 'shop.v1.ts'), file(coreText));
    writeFileSync(join(folder, 'meta.v1.ts'), file(metaText));
    const text = makeTypes(folder).get('shop.v1.ts')!;
    expect(text).toContain(want);
    expect(text).toMatch(/^\/\/ first\n\/\/ second\nimport type \{ ObjectMeta \} from/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
