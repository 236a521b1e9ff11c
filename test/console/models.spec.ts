import { join } from 'node:path';
import { load } from 'js-yaml';
import { fieldChanges as fieldChangesOfCommand } from '../../src/history/field-changes.js';
import { packageRoot } from '../../src/config/config-files.js';

/** Imports a module of the page, which has no types. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
const page = (name: string): Promise<any> => import(join(packageRoot, 'console', name));

describe('yaml-lines.js', () => {
  it.each<[name: string, value: object]>([
    ['scalars', { a: 1, b: true, c: null, d: 'x', e: 1.5, f: -0.25 }],
    [
      'texts that look like other types',
      { a: 'true', b: '1', c: 'null', d: '', e: '~', f: 'no', g: '2026-01-01', h: '0x1f' },
    ],
    [
      'texts with punctuation',
      { a: 'b: c', d: '- e', f: '#g', h: '"i"', j: "k'l", m: ' n ', o: '{p}', q: '*r', s: 'é\u2028' },
    ],
    ['keys that need quotes', { 'a: b': 1, '': 2, true: 3, 'x/y.z': 4, '1': 5 }],
    ['lists', { a: [1, 'b', null], c: [{ d: 1, e: [2, 3] }, { f: {} }], g: [[1, 2], [[3]]], h: [] }],
    ['blocks', { a: 'b\nc\n', d: 'e\nf', g: { h: ['i\nj', { k: 'l\n\nm\n' }] } }],
    ['texts that blocks would change', { a: ' b\n  c', d: 'e\n\n', f: '\n g', h: 'i\r\nj', k: 'l\t\nm', n: '#o\np' }],
    ['empty structures in lists', { a: [{}, [], { b: {} }] }],
  ])('prints %s so that a parser reads the same', async (_, value) => {
    const { yamlLines, yamlText } = await page('model/yaml-lines.js');
    expect(load(yamlText(yamlLines(value)))).toEqual(value);
  });
});

describe('field-owners.js', () => {
  const object = {
    metadata: {
      labels: { app: 'web', team: 'a' },
      finalizers: ['one', 'two'],
      managedFields: [
        {
          manager: 'first',
          operation: 'Apply',
          fieldsV1: {
            'f:metadata': { 'f:labels': { 'f:app': {} }, 'f:finalizers': { 'v:"one"': {} } },
            'f:spec': {
              'f:containers': { 'k:{"name":"b"}': { '.': {}, 'f:name': {}, 'f:image': {} } },
              'f:selector': {},
            },
          },
        },
        { manager: 'second', operation: 'Update', subresource: 'status', fieldsV1: { 'f:spec': { 'f:replicas': {} } } },
        { manager: 'third', operation: 'Update' },
      ],
    },
    spec: { replicas: 2, selector: { x: { y: 1 } }, containers: [{ name: 'a' }, { name: 'b', image: 'i' }] },
  };

  it('finds the managers of fields, of list items by key and value, and of what an owned field contains', async () => {
    const { managersOf, ownedSets } = await page('model/field-owners.js');
    const { yamlLines } = await page('model/yaml-lines.js');
    const managers = managersOf(object);
    expect(managers.map(({ label }: { label: string }) => label)).toEqual([
      'first · Apply',
      'second (status) · Update',
      'third · Update',
    ]);
    const { managedFields: _, ...metadata } = object.metadata;
    const lines = yamlLines({ ...object, metadata }, ownedSets(managers)) as {
      key: string;
      text: string;
      owners: number[];
    }[];
    const owners = Object.fromEntries(lines.map(({ key, text, owners }) => [`${key} ${text}`.trim(), owners]));
    expect(owners).toMatchObject({
      'app: web': [0],
      'team: a': [],
      '- one': [0],
      '- two': [],
      'replicas: 2': [1],
      '"y": 1': [0],
      '- name: a': [],
      '- name: b': [0],
      'image: i': [0],
      'spec:': [0, 1],
    });
  });

  it('finds the owners of the items of long lists, and prints structures of any depth', async () => {
    const { yamlLines } = await page('model/yaml-lines.js');
    const items = Array.from({ length: 20_000 }, (_, index) => ({ name: `n${index}`, protocol: 'TCP' }));
    const keys = items.map(({ name }) => [`k:${JSON.stringify({ name, protocol: 'TCP' })}`, {}]);
    const owned = [{ index: 3, set: { 'f:items': Object.fromEntries(keys) } }];
    const [first, ...lines] = yamlLines({ items }, owned) as { owners: number[] }[];
    expect([first!.owners, lines.length, lines.every(({ owners }) => owners.join() === '3')]).toEqual([
      [3],
      40_000,
      true,
    ]);
    let deep: unknown = 1;
    for (let depth = 0; depth < 30_000; depth++) deep = depth % 2 === 0 ? { a: deep } : [deep];
    expect(yamlLines({ deep }).length).toBeGreaterThan(10_000);
  });

  it.each([
    undefined,
    {},
    { metadata: null },
    { metadata: { managedFields: 'x' } },
    { metadata: { managedFields: [{}] } },
  ])('reads %j without an error', async (given) => {
    const { managersOf } = await page('model/field-owners.js');
    expect(Array.isArray(managersOf(given))).toBe(true);
  });
});

describe('field-changes.js', () => {
  it.each<[before: object, after: object]>([
    [
      { a: 1, b: { c: 'x' } },
      { a: 2, b: { d: 'y' } },
    ],
    [
      {
        list: [
          { name: 'a', v: 1 },
          { name: 'b', v: 1 },
        ],
      },
      {
        list: [
          { name: 'b', v: 2 },
          { name: 'c', v: 1 },
        ],
      },
    ],
    [{ list: [{ v: 1 }, { v: 1 }] }, { list: [{ v: 1 }] }],
    [
      { 'a.b/c': [1, 2], d: [] },
      { 'a.b/c': [1, 3], d: [{}] },
    ],
    [
      { a: null, b: [[1]], __proto__x: 1 },
      { a: {}, b: [[1]], constructor: 2 },
    ],
  ])('finds the same fields in %j and %j as keelson history get', async (before, after) => {
    const { fieldChanges } = await page('model/field-changes.js');
    expect(fieldChanges(before, after)).toEqual(fieldChangesOfCommand(before, after));
  });
});

describe('line-diff.js', () => {
  interface Line {
    readonly type: string;
    readonly text: string;
    readonly count?: number;
  }
  const diff = async (before: string, after: string, around?: number): Promise<Line[]> => {
    const { changedLines } = await page('model/line-diff.js');
    const { atOnce } = await page('model/slices.js');
    return atOnce(changedLines(before, after, around));
  };
  const side = (lines: readonly Line[], other: string) =>
    lines.filter(({ type }) => type !== other).map(({ text }) => text).join('\n'); // prettier-ignore

  it.each([
    ['', ''],
    ['a', 'b'],
    ['a\nb\nc', 'a\nc'],
    ['a\nc', 'a\nb\nc'],
    ['a\nb\nc\nd\ne', 'e\nd\nc\nb\na'],
    ['x\n'.repeat(40), `y\n${'x\n'.repeat(38)}z\n`],
  ])('both sides of the difference of %j and %j are the texts', async (before, after) => {
    const lines = await diff(before, after, Infinity);
    expect([side(lines, 'added'), side(lines, 'removed')]).toEqual([before, after]);
  });

  it('has all lines of both texts, shown or counted, for all short texts', async () => {
    const texts = [''];
    for (let at = 0; at < 121; at++) if (texts[at]!.length < 4) texts.push(...['a', 'b', '\n'].map((one) => texts[at]! + one)); // prettier-ignore
    const { changedLines } = await page('model/line-diff.js');
    const { atOnce } = await page('model/slices.js');
    const linesOf = (text: string) => (text === '' ? 0 : text.split('\n').length);
    const wrong: unknown[] = [];
    for (const before of texts.slice(0, 121)) {
      for (const after of texts.slice(0, 121)) {
        const all = atOnce(changedLines(before, after, Infinity)) as Line[];
        const isWhole = side(all, 'added') === before && side(all, 'removed') === after;
        const few = atOnce(changedLines(before, after, 1)) as Line[];
        const count = (other: string) =>
          few.reduce((sum, { type, count = 1 }) => (type === other ? sum : sum + count), 0);
        const isCounted = count('added') === linesOf(before) && count('removed') === linesOf(after);
        const isEqual = few.every(({ type }) => type === 'skipped');
        if (before === after ? !isEqual : !isWhole || !isCounted) wrong.push([before, after, all, few]);
      }
    }
    expect(wrong.slice(0, 3)).toEqual([]);
  });

  it('finds one changed character in a text of megabytes', async () => {
    const line = `${'x'.repeat(60)}\n`;
    const before = line.repeat(50_000);
    const after = `${line.repeat(30_000)}y${before.slice(30_000 * line.length + 1)}`;
    const lines = await diff(before, after, 1);
    expect(lines.map(({ type, count }) => [type, count])).toEqual([
      ['skipped', 29_999],
      ['same', undefined],
      ['removed', undefined],
      ['added', undefined],
      ['same', undefined],
      ['skipped', 19_999],
    ]);
  });

  it('finds the shortest difference, and skips what is far from it', async () => {
    const before = Array.from({ length: 100 }, (_, index) => `line ${index}`);
    const after = before.map((text, index) => (index === 50 ? 'changed' : text));
    const lines = await diff(before.join('\n'), after.join('\n'), 1);
    expect(lines.map(({ type }) => type)).toEqual(['skipped', 'same', 'removed', 'added', 'same', 'skipped']);
  });

  it('texts without a common line are removed and added', async () => {
    const text = (word: string) => Array.from({ length: 20_000 }, (_, index) => `${word} ${index}`).join('\n');
    expect((await diff(text('a'), text('b'))).length).toBe(40_000);
  });
});

describe('hidden-characters.js', () => {
  it.each([
    ['plain, ünïcode, 中文, tab\t and\nline', 'plain, ünïcode, 中文, tab\t and\nline'],
    ['family \u{1f468}\u200d\u{1f469}', 'family \u{1f468}\u200d\u{1f469}'],
    ['a\u202eb\u0000c\r', 'a\\u202eb\\u0000c\\u000d'],
    ['\ufeff\u{e0041}', '\\ufeff\\u{e0041}'],
  ])('shows %j as %j', async (text, shown) => {
    const { visiblePieces, visibleText } = await page('model/hidden-characters.js');
    const pieces = visiblePieces(text) as { text: string; isHidden: boolean }[];
    expect([visibleText(text), pieces.map((piece) => piece.text).join('')]).toEqual([shown, shown]);
    expect(pieces.some(({ isHidden }) => isHidden)).toBe(text !== shown);
  });

  it('finds the line of the first one', async () => {
    const { firstHidden } = await page('model/hidden-characters.js');
    expect([firstHidden('a\nb\u200b'), firstHidden('a')]).toEqual([{ escape: '\\u200b', line: 2 }, undefined]);
  });
});

describe('status.js', () => {
  it.each<[text: string, message: string]>([
    ['{"kind":"Status","message":"a: \\"b\\"","reason":"Invalid"}', 'a: "b"'],
    ["code: 422\nkind: Status\nmessage: 'it''s: wrong'\nreason: Invalid\n", "it's: wrong"],
    ['kind: Status\nmessage: "a\\tb"\nmetadata: {}\nreason: Invalid\n', 'a\tb'],
    ['kind: Status\nmessage: not found\nreason: Invalid\n', 'not found'],
    ['kind: Status\nmessage: long and\n  folded\nreason: Invalid\n', 'long and folded'],
    ['kind: Status\nmessage: |-\n  one\n  two\nreason: Invalid\n', 'one\ntwo'],
  ])('reads the message of %j', async (text, message) => {
    const { statusOf } = await page('api/status.js');
    expect(statusOf(text)).toMatchObject({ message, reason: 'Invalid' });
    expect(statusOf('<html>kind: Status</html>')).toBeUndefined();
  });
});

describe('text-parts.js', () => {
  it('splits a text after lines, and long lines between characters; the parts are the text', async () => {
    const { partsOf } = await page('model/text-parts.js');
    const texts = [
      '',
      'a\n'.repeat(100),
      'x'.repeat(100),
      '\u{1f600}'.repeat(60),
      `a\n${'y'.repeat(50)}\nb\n`.repeat(5),
    ];
    for (const text of texts) {
      const parts = partsOf(text, 11) as string[];
      expect(parts.join('')).toBe(text);
      expect(parts.every((part) => part.length <= 17 && !/^[\udc00-\udfff]|[\ud800-\udbff]$/.test(part))).toBe(true);
    }
    expect(partsOf('aaaa\nbbbb\ncccc\ndddd\n', 11)).toEqual(['aaaa\nbbbb\n', 'cccc\ndddd\n']);
  });
});

describe('json.js', () => {
  it.each([
    '{"a":9007199254740993}',
    '{"a":[-9223372036854775808,1.5,"9007199254740993"]}',
    '{"__proto__":1}',
    '1e400',
  ])('reads and writes %s without loss where the browser gives access to the source', async (text) => {
    const { parseJson, printJson } = await page('api/json.js');
    // Node 20 has no rawJSON, as older browsers: large integers are rounded there.
    const isLossless = 'rawJSON' in JSON;
    const value = parseJson(text) as unknown;
    if (isLossless || !/\d{16}/.test(text)) expect(value).toEqual(isLossless ? value : JSON.parse(text));
    if (isLossless && text !== '1e400') expect(printJson(value)).toBe(text);
  });
});

describe('json-lines.js', () => {
  it.each([
    [['{"a":1}\n'], ['{"a":1}']],
    [
      ['{"a"', ':1}', '\n{"b":2}\n{'],
      ['{"a":1}', '{"b":2}'],
    ],
    [
      ['\n\na\n', '', 'b', '\n'],
      ['a', 'b'],
    ],
  ])('splits %j', async (chunks, lines) => {
    const { LineSplitter } = await page('api/json-lines.js');
    const splitter = new LineSplitter();
    expect(chunks.flatMap((chunk) => splitter.push(chunk) as string[])).toEqual(lines);
  });
});

describe('kubeconfig.js', () => {
  const extensions =
    '    extensions:\n    - extension:\n        server: https://y\n        user: one\n      name: info\n';
  const config = (user: string) =>
    `apiVersion: v1\nclusters:\n- name: c\n  cluster:\n    server: https://x\ncontexts:\n- context:\n    cluster: c\n    user: "two"\n  name: here\ncurrent-context: here\nusers:\n- name: one\n  user:\n    token: first\n- name: 'two'\n  user:\n    ${user}\n`;
  it.each([
    ['  eyJ.abc.def \n', { token: 'eyJ.abc.def' }],
    [config('token: "second"'), { token: 'second', cluster: '' }],
    [
      config('token: second').replace('https://x', 'https://x:6443/clusters/team-a'),
      { token: 'second', cluster: 'team-a' },
    ],
    [config('token: second').replace('https://x', 'https://x/clusters/a/../b'), { token: 'second', cluster: '' }],
    [config('client-certificate-data: Q0U='), { cluster: '', problem: expect.stringContaining('client certificate') }],
    [config('exec:\n      command: aws'), { cluster: '', problem: expect.stringContaining('plug-ins') }],
    ['current-context: a\nusers: []\n', { cluster: '', problem: expect.stringContaining('no user') }],
    [
      config('token: second').replace('    cluster: c\n', `${extensions}    cluster: c\n`),
      { token: 'second', cluster: '' },
    ],
    [
      config('token: second').replace('    server:', `${extensions}    server:`).replace('x\n', 'x/clusters/b\n'),
      { token: 'second', cluster: 'b' },
    ],
  ])('finds the token and the logical cluster in %j', async (text, found) => {
    const { credentialsOf } = await page('model/kubeconfig.js');
    expect(credentialsOf(text)).toEqual(found);
  });
});

describe('editable-text.js', () => {
  it.each([
    ['yaml', 'data:\n  resourceVersion: "1"\nkind: K\nmetadata:\n  name: a\n  resourceVersion: "7"\n  uid: u-1\n'],
    ['yaml', 'metadata:\n  annotations:\n    uid: other\n    x: "9"\n  resourceVersion: "7"\n  uid: u-1\nuid: x\n'],
    ['json', '{"data": {"uid": "x"}, "metadata": {"uid": "u-1", "resourceVersion": "7"}}'],
  ])('finds uid and resourceVersion in %s %j', async (format, text) => {
    const { formats } = await page('model/editable-text.js');
    expect(formats[format].identity(text)).toEqual({ uid: 'u-1', resourceVersion: '7' });
  });
});

describe('owner-tree.js', () => {
  const row = (uid: string, ...owners: string[]) => ({
    id: uid,
    name: uid,
    namespace: 'n',
    kind: { kind: 'K' },
    uid,
    owners: owners.map((owner) => ({ uid: owner })),
  });
  const shown = async (rows: object[], collapsed: string[] = [], matches?: (row: { name: string }) => boolean) => {
    const { arrange } = await page('model/owner-tree.js');
    const lines = arrange(rows, new Set(collapsed), matches) as { row: { name: string }; depth: number }[];
    return lines.map(({ row: { name }, depth }) => `${'-'.repeat(depth)}${name}`);
  };
  const rows = [row('pod', 'set'), row('set', 'web'), row('web'), row('alone', 'absent')];

  it('puts objects below their owners', async () => {
    expect(await shown(rows)).toEqual(['alone', 'web', '-set', '--pod']);
    expect(await shown(rows, ['set'])).toEqual(['alone', 'web', '-set']);
    expect(await shown(rows, [], ({ name }) => name === 'set')).toEqual(['web', '-set']);
  });

  it('shows the objects of a cycle once', async () => {
    const cycle = [row('a', 'b'), row('b', 'a'), row('self', 'self')];
    expect((await shown(cycle)).map((text) => text.replaceAll('-', '')).sort()).toEqual(['a', 'b', 'self']);
  });

  it('arranges a chain of 20,000 objects', async () => {
    const chain = Array.from({ length: 20_000 }, (_, index) => row(`${index}`, `${index - 1}`));
    expect((await shown(chain)).length).toBe(20_000);
    expect(await shown(chain, ['0'])).toEqual(['0']);
  });
});

describe('collection.js', () => {
  it('has the rows that match in order, whatever comes and goes', async () => {
    const { Collection, rowOf } = await page('model/collection.js');
    const collection = new Collection();
    const add = (name: string, value = '') =>
      collection.set(rowOf({ metadata: { name, uid: name }, cells: [name, value] }, { id: 'k.' }));
    for (const name of ['d', 'b', 'a', 'c']) add(name);
    add('b', 'special');
    collection.delete('a');
    const names = () => collection.visible.map(({ name }: { name: string }) => name);
    expect(names()).toEqual(['b', 'c', 'd']);
    collection.filterBy('special');
    expect(names()).toEqual(['b']);
    add('c', 'special');
    add('b', 'plain');
    expect([names(), collection.size]).toEqual([['c'], 3]);
  });
});

describe('metrics-text.js', () => {
  const text = [
    '# HELP a help',
    'requests{verb="GET",code="200"} 10',
    'requests{verb="LIST",code="a\\"}b,x=\\"y"} 5',
    'latency_bucket{le="0.1"} 2',
    'latency_bucket{le="1"} 6',
    'latency_bucket{le="+Inf"} 8',
    'plain 3',
    'requests_other{verb="GET"} 99',
  ].join('\n');

  it('reads samples, sums and quantiles', async () => {
    const { bucketsOf, quantile, samplesOf, sumBy } = await page('model/metrics-text.js');
    const samples = samplesOf(text, ['requests', 'latency_bucket', 'plain', 'absent']);
    expect([...sumBy(samples.get('requests'), 'verb')]).toEqual([['GET', 10], ['LIST', 5]]); // prettier-ignore
    expect(samples.get('plain')).toEqual([{ labels: {}, value: 3 }]);
    expect(samples.get('absent')).toEqual([]);
    const buckets = bucketsOf(samples.get('latency_bucket'), () => true);
    expect(quantile(new Map(), buckets, 0.5)).toBeCloseTo(0.55);
    expect(quantile(new Map(), buckets, 0.99)).toBe(1);
    expect(quantile(buckets, buckets, 0.5)).toBeUndefined();
  });

  it('reads the dump of priority levels', async () => {
    const { dumpedTable } = await page('model/metrics-text.js');
    expect(dumpedTable('PriorityLevelName, WaitingRequests\nexempt,  0\n\n')).toEqual([
      { PriorityLevelName: 'exempt', WaitingRequests: '0' },
    ]);
  });
});

describe('editable-text.js', () => {
  it('removes metadata.managedFields after a text with an empty line', async () => {
    const { editable, formats } = await page('model/editable-text.js');
    const before = 'metadata:\n  annotations:\n    note: |\n      a\n\n      b\n';
    const after = '  uid: u\n';
    const fields = '  managedFields:\n  - manager: m\n    time: t\n';
    expect(editable(before + fields + after, formats.yaml)).toBe(before + after);
    expect(formats.yaml.identity(before + fields + after).uid).toBe('u');
  });

  it('removes metadata.managedFields and nothing else', async () => {
    const { editable, formats } = await page('model/editable-text.js');
    const clean = (text: string): string => editable(text, formats.yaml);
    const before = 'kind: A\nmetadata:\n  labels:\n    a: b\n';
    const after = '  name: x\nspec:\n  managedFields:\n    - kept\n';
    for (const dash of ['  - ', '    - ']) {
      const fields = `  managedFields:\n${dash}apiVersion: v1\n${dash.replace('-', ' ')}fieldsV1:\n        f:data: {}\n`;
      expect(clean(before + fields + after)).toBe(before + after);
    }
    expect(JSON.parse(editable('{"metadata":{"managedFields":[],"name":"x"}}', formats.json))).toEqual({
      metadata: { name: 'x' },
    });
  });

  it('a data entry that is called resourceVersion is compared', async () => {
    const { comparable, formats } = await page('model/editable-text.js');
    const yaml = 'data:\n  resourceVersion: mine\nmetadata:\n  name: x\n  resourceVersion: "7"\n';
    expect(comparable(yaml, formats.yaml)).toBe(yaml.replace('  resourceVersion: "7"\n', ''));
  });
});
