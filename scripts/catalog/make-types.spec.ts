import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../../src/config/config-files.js';
import { makeTypes } from './make-types.js';

const committed = join(packageRoot, 'src/catalog/types');

it('writes the committed types from the committed data', () => {
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
    'a kind has ours for its metadata, and always says what it is',
    `export type Basket = {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: ObjectMeta;
  readonly spec?: BasketSpec | undefined;
};`,
  ],
  ['an item of a list need not say its kind', '  readonly items?: readonly Partial<Basket>[] | null | undefined;'],
  ['fields of inlined structs stand beside the others', '  readonly color?: string | undefined;'],
  [
    'a list that is always written is null where it is empty',
    '  readonly fruits?: readonly Fruit[] | null | undefined;',
  ],
  ['an optional pointer is absent, not null', '  readonly owner?: string | undefined;'],
  ['a named map is a record', '  readonly amounts?: Readonly<Record<string, string>> | undefined;'],
  ['a quantity is a text', '  readonly weight?: string | undefined;'],
  ['a large int64 is a bigint', '  readonly count?: number | bigint | undefined;'],
  ['a number or a percentage', '  readonly size?: number | string | undefined;'],
  ['a time that is always written may be null', '  readonly since?: string | null | undefined;'],
  ['a time that may be left out is not null', '  readonly until?: string | undefined;'],
  ['bytes are base64', '  readonly photo?: string | undefined;'],
  [
    'null in a map of lists stays null',
    '  readonly extra?: Readonly<Record<string, readonly string[] | null>> | undefined;',
  ],
  ['free-form values are unknown', '  readonly raw?: readonly unknown[] | undefined;'],
  ['a free-form value may be anything', '  readonly value?: unknown;'],
  ['a struct without fields', '  readonly empty?: Readonly<Record<string, never>> | undefined;'],
  ['names that are no identifiers are quoted', "  readonly 'x-large'?: boolean | undefined;"],
  ['embedded metadata is ours as well', '  readonly template?: ObjectMeta | undefined;'],
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
