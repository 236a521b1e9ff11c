import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CapturedValues } from './captured-values.js';
import { differencesOf } from './compare-contents.js';
import { readRecording } from './read-recording.js';
import { RecordingFile } from './recording-file.js';
import { lineBytesMax, recordingHeader } from './recording-lines.js';

let directory: string;
let path: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'keelson-recording-'));
  path = join(directory, 'run.jsonl');
});
afterEach(() => rmSync(directory, { recursive: true }));

const exchange = {
  id: 1,
  atMs: 0,
  request: { method: 'GET', path: '/version', headers: {} },
  answer: { status: 200, headers: {} },
};

describe('a recording file', () => {
  it('replaces a recording, and no other file', async () => {
    for (const id of [1, 2]) {
      const file = await RecordingFile.create(path);
      await file.write({ ...exchange, id });
      await file.close();
      if (id === 1) chmodSync(path, 0o644);
    }
    expect(readFileSync(path, 'utf8').split('\n')).toEqual([recordingHeader, expect.stringContaining('"id":2'), '']);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    for (const content of ['', 'precious', '{"keelsonRecording":10}']) {
      const other = join(directory, 'other');
      writeFileSync(other, content);
      await expect(RecordingFile.create(other)).rejects.toThrow(/exists and is not a recording/);
      expect(readFileSync(other, 'utf8')).toBe(content);
    }
    execFileSync('mkfifo', [join(directory, 'pipe')]);
    await expect(RecordingFile.create(join(directory, 'pipe'))).rejects.toThrow(/exists and is not a recording/);
    await expect(RecordingFile.create(join(directory, 'no/such/run'))).rejects.toThrow(/there is no such file/);
  });
});

describe('readRecording()', () => {
  const read = async (...lines: readonly string[]) => {
    writeFileSync(path, [recordingHeader, ...lines].join('\n'));
    const found = [];
    for await (const { line } of readRecording(path)) found.push(line);
    return found;
  };
  const change = (text: string, by: string) => JSON.stringify(exchange).replace(text, by);

  it('yields the lines', async () => {
    const event = { watch: 1, atMs: 3, event: { type: 'ADDED' } };
    expect(await read(JSON.stringify(exchange), JSON.stringify(event), '')).toEqual([exchange, event]);
  });

  it.each([
    ['no JSON', '{"id":', /line 2: .*unexpected/i],
    ['a prototype', '{"__proto__":{"a":1}}', /line 2: .*__proto__/],
    ['deep nesting', '['.repeat(5000) + ']'.repeat(5000), /line 2: .*(deep|depth|nest)/i],
    ['a list', '[]', /line 2: the line must be an object/],
    ['no request', '{"id":1}', /line 2: request must be an object/],
    ['a wrong id', change('"id":1', '"id":"1"'), /line 2: id must be a whole number/],
    ['a wrong method', change('GET', 'GET /'), /line 2: request\.method must be/],
    ['a wrong path', change('"/version"', '"version"'), /line 2: request\.path must be/],
    ['a path with a line break', change('"/version"', '"/a\\r\\nb"'), /line 2: request\.path must be/],
    [
      'credentials',
      change('"headers":{}', '"headers":{"authorization":"x"}'),
      /must be an object without authorization/,
    ],
    [
      'a line break in a header',
      change('"headers":{}', '"headers":{"accept":"a\\r\\nb"}'),
      /line 2: request\.headers\.accept must be the text of a header/,
    ],
    ['a body that is no text', change('"headers":{}', '"headers":{},"text":3'), /line 2: request\.text must be/],
    ['an event that is no object', '{"watch":1,"event":3}', /line 2: event must be an object/],
  ])('refuses %s', async (_title, line, message) => {
    await expect(read(line, '')).rejects.toThrow(message);
    expect(({} as Record<string, unknown>)['a']).toBeUndefined();
  });

  it('refuses other files, incomplete recordings and huge lines', async () => {
    await expect(read('{"id"')).rejects.toThrow(/line 2: incomplete/);
    await expect(read('x'.repeat(lineBytesMax + 1))).rejects.toThrow(/line 2: longer than/);
    for (const content of ['', 'a\n', '{}\n']) {
      writeFileSync(path, content);
      await expect(readRecording(path).next()).rejects.toThrow(/is not a recording|incomplete/);
    }
    await expect(readRecording(join(directory, 'none')).next()).rejects.toThrow(/there is no such file/);
  });
});

describe('CapturedValues', () => {
  const [oldUid, newUid] = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222'];

  it('replaces uids, resourceVersions, generated names and cluster IPs in later requests', () => {
    const captured = new CapturedValues();
    const metadata = { generateName: 'gen-', name: 'gen-aaaaa', uid: oldUid, resourceVersion: '7' };
    captured.capture(
      { metadata, spec: { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'], ports: '7' } },
      { metadata: { name: 'gen-bbbbb', uid: newUid, resourceVersion: '70' }, spec: { clusterIP: '10.0.0.2' } },
    );
    expect(captured.translatePath('/api/v1/configmaps/gen-aaaaa?resourceVersion=7&limit=7')).toBe(
      '/api/v1/configmaps/gen-bbbbb?resourceVersion=70&limit=7',
    );
    expect(captured.translatePath('/x?fieldSelector=metadata.name%3Dgen-aaaaa')).toBe(
      '/x?fieldSelector=metadata.name%3Dgen-bbbbb',
    );
    expect(captured.translatePath('/x%zz?a')).toBe('/x%zz?a');
    expect(
      captured.translate({ metadata: { resourceVersion: '7', name: `e.${oldUid}` }, spec: { a: '7', b: '10.0.0.1' } }),
    ).toEqual({ metadata: { resourceVersion: '70', name: `e.${newUid}` }, spec: { a: '7', b: '10.0.0.2' } });
    expect(captured.translate([{ op: 'test', path: '/metadata/resourceVersion', value: '7' }])).toEqual([
      { op: 'test', path: '/metadata/resourceVersion', value: '70' },
    ]);
  });
});

describe('differencesOf()', () => {
  it('leaves out times, resourceVersions, ages and what is ignored', () => {
    const object = (time: string, version: string, a: string) => ({
      metadata: { creationTimestamp: time, resourceVersion: version, annotations: { a } },
      rows: [{ cells: ['x', a === '1' ? '3s' : '2m5s'] }],
    });
    const [before, after] = [object('2026-01-01T00:00:00Z', '1', '1'), object('2026-01-02T00:00:00.1Z', '2', '2')];
    expect(differencesOf(before, after, [])).toEqual(['replace /metadata/annotations/a: "1", now "2"']);
    expect(differencesOf(before, after, ['/metadata/*/a'])).toEqual([]);
    expect(differencesOf(before, after, ['/metadata/annotations'])).toEqual([]);
  });

  it.each([
    [{ a: 1 }, { a: 1, b: 10n ** 17n }, ['add /b: "100000000000000000"']],
    [{ a: { 'x/y': 1 } }, { a: {} }, ['remove /a/x~1y: 1']],
    ['text', { a: 1 }, ['replace /: "text", now {"a":1}']],
    [undefined, { a: 1 }, ['add /: {"a":1}']],
    [[1], undefined, ['remove /: [1]']],
  ])('row %#', (before, after, expected) => {
    expect(differencesOf(before, after, [])).toEqual(expected);
  });
});
