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
