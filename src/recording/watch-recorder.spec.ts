import { contentBytesMax } from './recorded-content.js';
import type { RecordingFile } from './recording-file.js';
import type { RecordingLine } from './recording-lines.js';
import { WatchRecorder } from './watch-recorder.js';

it('writes each event once it is whole, and a line for each that cannot be recorded', async () => {
  const lines: RecordingLine[] = [];
  const file = { write: (line: RecordingLine) => Promise.resolve(void lines.push(line)) };
  const recorder = new WatchRecorder(7, file as RecordingFile, () => 3);
  const events = [
    '{"type":"ADDED","object":{"kind":"ConfigMap"}}',
    '',
    '{"type":"BOOKMARK","object":{}}',
    '{"type":',
    '[]',
    `{"type":"ADDED","object":"${'x'.repeat(contentBytesMax)}"}`,
    '{"type":"DELETED","object":{}}',
  ];
  const bytes = Buffer.from(events.map((event) => `${event}\n`).join(''));
  for (let at = 0; at < bytes.length; at += 65_537) await recorder.add(bytes.subarray(at, at + 65_537));
  await recorder.end();
  const omitted = (reason: string) => ({ watch: 7, atMs: 3, event: { type: 'OMITTED', reason } });
  expect(lines).toEqual([
    { watch: 7, atMs: 3, event: { type: 'ADDED', object: { kind: 'ConfigMap' } } },
    omitted('not a JSON object'),
    omitted('not a JSON object'),
    omitted(`more than ${contentBytesMax} bytes`),
    { watch: 7, atMs: 3, event: { type: 'DELETED', object: {} } },
    { watch: 7, atMs: 3, ended: true },
  ]);
});
