import { json, yaml } from './encodings.js';
import { frameJson, streamContentType } from './watch-framing.js';

it('frames bytes without reading them', () => {
  expect(frameJson('ADDED', Buffer.from('{"a":1}')).toString()).toBe('{"type":"ADDED","object":{"a":1}}\n');
  expect(frameJson('BOOKMARK', Buffer.from('{}')).toString()).toBe('{"type":"BOOKMARK","object":{}}\n');
});

it('names the type of the stream', () => {
  expect(streamContentType(json)).toBe('application/json');
  expect(yaml.streamMediaType).toBeUndefined();
});
