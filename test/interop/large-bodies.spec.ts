import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HttpClient } from '../harness/http-client.js';
import { ServerProcess } from '../harness/server-process.js';

let directory: string;
let server: ServerProcess;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'keelson-bodies-'));
  server = await ServerProcess.start(directory, ['--storage-backend=memory', '--controllers=']);
});
afterAll(async () => {
  await server?.kill();
  rmSync(directory, { recursive: true, force: true });
});

/**
 * Node stops the parser of a connection with a full write buffer, and loses data it reads then: a request of several
 * packets right after a large answer. Seen only between processes.
 */
it.each([12_000, 16_000, 20_000, 60_000])('accepts bodies of %d bytes after answers of that size', async (bytes) => {
  const { url, ca, client } = server.access;
  const admin = new HttpClient({ url, ca, ...client });
  const body = { metadata: { generateName: 'large-' }, data: { text: 'x'.repeat(bytes) } };
  const codes = new Set<number>();
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (let i = 0; i < 40; i++) codes.add((await admin.post('/api/v1/namespaces/default/configmaps', body)).code);
    }),
  );
  admin.close();
  expect([...codes]).toEqual([201]);
});

it('shortens a name and a time of 2 MB in errors (422, 400)', async () => {
  const { url, ca, client } = server.access;
  const admin = new HttpClient({ url, ca, ...client });
  const name = '\u00a0'.repeat(1_000_000);
  const shown = 65_536;
  const remainder = '… (shortened, 1000000 characters)';
  const quoted = `"${'\\u00a0'.repeat(shown)}"${remainder}`;
  for (const [body, code, start] of [
    [
      { metadata: { name } },
      422,
      `ConfigMap ${quoted} is invalid: [metadata.name: Invalid value: ${quoted}: must be no more than 253 characters, `,
    ],
    [
      { metadata: { creationTimestamp: name } },
      400,
      `cannot be handled as a ConfigMap: parsing time "${'\\xc2\\xa0'.repeat(shown)}`,
    ],
  ] as const) {
    const answer = await admin.post('/api/v1/namespaces/default/configmaps', body);
    expect([answer.code, answer.body.code]).toEqual([code, code]);
    expect((answer.body.message as string).includes(start)).toBe(true);
  }
  expect((await admin.get('/api/v1/namespaces/default/configmaps')).code).toBe(200);
  admin.close();
});
