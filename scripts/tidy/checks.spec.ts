import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { differences, markersIn, missingPaths, reasonsInTable } from './checks.js';
import { commentProblems } from './comments.js';
import { duplicateTitles } from './test-titles.js';
import { unusedExports } from './unused-exports.js';

let root: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'tidy-'));
  for (const file of ['README.md', 'src/cache/watch-cache.ts', 'src/cache/fan-out.ts', 'config/naming/svc.yaml']) {
    mkdirSync(join(root, file, '..'), { recursive: true });
    writeFileSync(join(root, file), '');
  }
});
afterAll(() => rmSync(root, { recursive: true }));

test.each<{ name: string; text: string; missing: string[] }>([
  { name: 'a file that exists', text: '`src/cache/fan-out.ts`', missing: [] },
  { name: 'a file that does not exist', text: '`src/cache/gone.ts`', missing: ['src/cache/gone.ts'] },
  { name: 'relative to src/, without extension', text: '`cache/watch-cache` `cache/gone`', missing: ['cache/gone'] },
  { name: 'a folder', text: '`config/naming/`', missing: [] },
  { name: 'braces', text: '`src/cache/{fan-out,fan-in}.ts`', missing: ['src/cache/fan-in.ts'] },
  { name: 'a wildcard', text: '`config/naming/*.yaml` `config/naming/k*.yaml`', missing: ['config/naming/k*.yaml'] },
  { name: 'a file at the top', text: '`README.md` `GONE.md`', missing: ['GONE.md'] },
  { name: 'a file in any folder', text: '`fan-out.ts` `fan-in.ts`', missing: ['fan-in.ts'] },
  {
    name: 'a regular expression that looks like a link',
    text: '`^[A-Z]([a-z])+$`',
    missing: [],
  },
  { name: 'links', text: '[a](README.md#run) [b](gone.md) [c](https://example.com) [d](#here)', missing: ['gone.md'] },
  {
    name: 'text that is not a path',
    text: '`application/json` `/api/v1` `src/<name>.ts` `npm test` `--data-dir`',
    missing: [],
  },
  { name: 'code blocks', text: '```\n`src/gone.ts`\n```', missing: [] },
])('finds missing paths: $name', ({ text, missing }) => {
  expect(missingPaths(text, root)).toEqual(missing);
});

test('links are relative to the folder of their document', () => {
  const text = '[a](fan-out.ts) [b](../cache/fan-out.ts) [c](README.md) [d](../../README.md)';
  expect(missingPaths(text, root, 'src/cache/watch-cache.ts')).toEqual(['README.md']);
});

test('documented errors are compared both ways', () => {
  const documented = reasonsInTable(
    '| Reason | Code | When |\n| --- | --- | --- |\n| `Gone` | 410 | x |\n| `Odd` | 400 | y |\n',
  );
  expect(
    differences(
      documented,
      new Map([
        ['Gone', 410],
        ['New', 404],
      ]),
    ),
  ).toEqual(['Odd: documented as 400, is nothing', 'New: documented as nothing, is 404']);
});

test('leftover markers are reported with their line', () => {
  expect(markersIn(`a\n// ${'TO'}DO later\nconst todo = 1;`)).toEqual([`2: // ${'TO'}DO later`]);
});

test.each<{ name: string; source: string; problems: string[] }>([
  { name: 'a verb', source: '/** Returns the name. */', problems: [] },
  { name: 'an interrogative', source: '/** What it returns. */', problems: ['1: verb or a noun'] },
  { name: 'a line comment after code', source: `call(); // ${'Who'}ever calls`, problems: ['1: verb or a noun'] },
  {
    name: 'a later line of a block',
    source: `/**\n * Text.\n * ${'Wh'}ere it is.\n */`,
    problems: ['3: verb or a noun'],
  },
  { name: 'a word that only begins like one', source: '// Whole pages, and Hows', problems: [] },
  { name: 'a string', source: "const text = 'What is it?'; const url = 'https://Who'", problems: [] },
  { name: 'a banner', source: '// ------ Section ------', problems: ['1: banner line'] },
  { name: 'a banner in a block', source: '/*****\n * ====\n */', problems: ['1: banner line', '2: banner line'] },
  { name: 'a Markdown list', source: '/**\n * - an item\n */', problems: [] },
])('comments: $name', ({ source, problems }) => {
  const shown = commentProblems(source).map((found) =>
    found.replace(/^(\d+:).*?(verb or a noun|banner line)\)$/s, '$1 $2'),
  );
  expect(shown).toEqual(problems);
});

test.each<{ name: string; source: string; titles: string[] }>([
  { name: 'two titles', source: "it('a', f);\nit('b', f);", titles: [] },
  { name: 'one title twice', source: "it('a', f);\ntest('a', f);", titles: ['2: a'] },
  {
    name: 'one title in two groups',
    source: "describe('x', () => it('a', f));\ndescribe('y', () => it('a', f));",
    titles: [],
  },
  {
    name: 'a group twice',
    source: "describe('x', () => it('a', f));\ndescribe('x', () => it('a', f));",
    titles: ['2: x > a'],
  },
  { name: 'templates', source: "it.each(one)('%s', f);\nit.each<[string]>(two)('%s', f);", titles: ['2: %s'] },
  { name: 'template literals', source: 'it(`a ${b}`, f);\nit(`a ${c}`, f);', titles: [] },
  { name: 'it.only', source: "it.only('a', f);\nit.skip('a', f);", titles: ['2: a'] },
])('test titles: $name', ({ source, titles }) => {
  expect(duplicateTitles(source)).toEqual(titles);
});

test.each<{ name: string; one: string; other?: string; unused: string[] }>([
  { name: 'a function', one: 'export function a() {}', unused: ['a'] },
  { name: 'constants', one: 'export const a = 1,\n  { b, c: [d] } = e();', unused: ['a', 'b', 'd'] },
  { name: 'types', one: 'export type A = 1;\nexport interface B {}', unused: ['A', 'B'] },
  { name: 'a list of exports', one: 'const a = 1;\nexport { a, a as b };', unused: ['a', 'b'] },
  { name: 'a default export', one: 'export default 1;', unused: ['default'] },
  { name: 'what another file exports on', one: "export { a } from './x.js';", unused: ['a'] },
  { name: 'no declaration without export', one: 'const a = 1;', unused: [] },
  { name: 'no named import', one: 'export const a = 1;', other: "import { a as b } from './one.js';", unused: [] },
  { name: 'no import of a type', one: 'export type A = 1;', other: "import type { A } from './one.js';", unused: [] },
  { name: 'no default import', one: 'export default 1;', other: "import one from './one.js';", unused: [] },
  {
    name: 'no import of a namespace',
    one: 'export const a = 1;',
    other: "import * as one from './one.js';",
    unused: [],
  },
  { name: 'no export of everything', one: 'export const a = 1;', other: "export * from './one.js';", unused: [] },
  {
    name: 'names that a dynamic import does not take',
    one: 'export const a = 1, b = 2;',
    other: "const { a } = await import('./one.js');",
    unused: ['b'],
  },
  {
    name: 'names that the type of an import does not take',
    one: 'export type A = 1;\nexport type B = 2;',
    other: "type C = import('./one.js').B;",
    unused: ['A'],
  },
])('finds unused exports: $name', ({ one, other = '', unused }) => {
  const sources = new Map([
    ['src/one.ts', one],
    ['src/other.ts', other],
  ]);
  const found = unusedExports(sources, (path) => path === 'src/one.ts');
  expect(found.map((line) => /no other file imports (\w+)/.exec(line)![1])).toEqual(unused);
});

test('an unused export is reported with its line and the remedy', () => {
  const sources = new Map([['src/one.ts', '\nexport const a = 1;']]);
  expect(unusedExports(sources, () => true)).toEqual([
    'src/one.ts:2: no other file imports a; remove it, or "export" if this file uses it',
  ]);
});
