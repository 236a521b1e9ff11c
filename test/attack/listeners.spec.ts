import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HttpClient } from '../harness/http-client.js';
import { ServerProcess } from '../harness/server-process.js';

test.each(['memory', 'embedded'])(
  'many concurrent requests, watches and deletions on %s emit no MaxListenersExceededWarning',
  async (store) => {
    const directory = await mkdtemp(join(tmpdir(), 'listeners-'));
    const server = await ServerProcess.start(directory, [`--storage-backend=${store}`]);
    const { url, ca, client } = server.access;
    const h2 = new HttpClient({ url, ca, ...client, protocol: 'h2' });
    try {
      const path = '/api/v1/namespaces/default/configmaps';
      const watches = await Promise.all(Array.from({ length: 60 }, () => h2.watch(`${path}?watch=1`)));
      const made = await Promise.all(
        Array.from({ length: 200 }, (_, i) => h2.post(path, { metadata: { name: `a-${i}`, labels: { some: 'a' } } })),
      );
      expect(new Set(made.map(({ code }) => code))).toEqual(new Set([201]));
      const lists = await Promise.all(Array.from({ length: 100 }, () => h2.get(path, { 'accept-encoding': 'gzip' })));
      expect(new Set(lists.map(({ code }) => code))).toEqual(new Set([200]));
      expect((await h2.delete(`${path}?labelSelector=some%3Da`)).code).toBe(200);
      watches.forEach((watch) => watch.close());
      expect(server.output).not.toMatch(/Warning|warning/);
    } finally {
      h2.close();
      await server.stop();
      await rm(directory, { recursive: true, force: true });
    }
  },
);
