import { Linter } from 'eslint';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ts from 'typescript';
import { parser } from 'typescript-eslint';
import { packageRoot } from '../../src/config/config-files.js';
import { untypedFields, untypedRooms } from './untyped-fields.mjs';

// With the type that it needs of TypeScript's library, which takes long to load.
const declarations = `
type Record<Name extends string, Value> = { [Each in Name]: Value };
type Fields = Record<string, unknown>;
interface KubeObject { kind: string; [field: string]: unknown }
type Pod = { readonly kind: string; readonly spec?: { readonly nodeName?: string } };
declare const fields: Fields, object: KubeObject, pod: Pod, either: Pod | KubeObject, labels: Record<string, string>;
declare const name: string;
declare function asFields(value: unknown): Fields;
declare function valueAt(value: unknown, path: readonly string[]): unknown;
declare function fillIn(parent: Fields, field: string, value: unknown): void;
`;

let root: string;
beforeAll(() => (root = mkdtempSync(join(tmpdir(), 'untyped-fields-'))));
afterAll(() => rmSync(root, { recursive: true }));

/** Lints a file at `path`. Returns the findings as `line: names in backticks`, lines counted after the declarations. */
function findings(source: string, path: string): string[] {
  const file = join(root, path);
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, `${declarations}${source}`);
  const program = ts.createProgram([file], { strict: true, noLib: true, types: [] });
  const messages = new Linter({ cwd: root }).verify(
    `${declarations}${source}`,
    {
      files: ['**/*.ts'],
      languageOptions: { parser, parserOptions: { programs: [program] } },
      plugins: { keelson: { rules: { 'untyped-fields': untypedFields } } },
      rules: { 'keelson/untyped-fields': 'error' },
    },
    file,
  );
  const before = declarations.split('\n').length - 1;
  return messages.map(({ line, message }) => `${line - before}: ${/^`([^`]+)`/.exec(message)?.[1] ?? message}`);
}

test.each<{ name: string; source: string; found: string[] }>([
  { name: 'a field of Fields', source: "fields['spec'];", found: ['1: spec'] },
  { name: 'a field after a dot', source: 'asFields(pod).spec;', found: ['1: spec'] },
  { name: 'a field of KubeObject beyond the declared ones', source: 'object.kind;\nobject.spec;', found: ['2: spec'] },
  { name: 'a write', source: "fields['spec'] = {};", found: ['1: spec'] },
  { name: 'a destructured variable', source: 'const { kind, spec: own } = object;', found: ['1: spec'] },
  { name: 'a destructured parameter', source: 'const f = ({ spec }: KubeObject) => spec;', found: ['1: spec'] },
  { name: 'one type of a union', source: 'either.spec;', found: ['1: spec'] },
  { name: 'a type parameter', source: 'const f = <T extends KubeObject>(of: T) => of.spec;', found: ['1: spec'] },
  { name: 'a literal path', source: "valueAt(pod, ['spec', 'nodeName']);", found: ['1: spec.nodeName'] },
  { name: 'a literal name to set', source: "fillIn(fields, 'spec', {});", found: ['1: spec'] },
  { name: 'a type of the catalog', source: 'const { spec }: Pod = object;\nspec?.nodeName;\npod.spec;', found: [] },
  { name: 'a computed name', source: 'fields[name];\nvalueAt(pod, [name]);', found: [] },
  { name: 'a map with values of a type', source: "labels['app'];\nlabels.app;", found: [] },
  { name: 'the rest of an object', source: 'const { ...rest } = fields;', found: [] },
])('untyped fields: $name', ({ source, found }) => {
  expect(findings(source, 'src/modules/a.ts')).toEqual(found);
});

test('untyped fields are allowed in specs and in the listed rooms', () => {
  const source = "fields['spec'];";
  expect(findings(source, 'src/modules/a.spec.ts')).toEqual([]);
  for (const { path } of untypedRooms) {
    expect(findings(source, path.endsWith('.ts') ? path : `${path}deeper/a.ts`)).toEqual([]);
  }
});

test.each(untypedRooms)('untyped room $path exists and has a reason', ({ path, reason }) => {
  expect(existsSync(join(packageRoot, path))).toBe(true);
  expect(reason).toMatch(/^\S.{10,}/);
});
