import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../harness/eventually.js';
import { printedBy } from '../harness/printed-command.js';
import { startTestServer, type TestServer } from '../harness/servers.js';

const maps = '/api/v1/namespaces/default/configmaps';
const count = 150;

it('a restore that the end of the server interrupts is continued by running it again', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'keelson-interrupted-'));
  const kubeconfig = join(directory, 'kubeconfig');
  const file = join(directory, 'snapshot');
  let server: TestServer | undefined;
  const start = async () => {
    server = await startTestServer({ store: 'embedded', naming: 'kubernetes' }, { directory: join(directory, 'data') });
    await writeFile(kubeconfig, server.keelson.kubeconfig);
    return server;
  };
  const snapshot = (...words: string[]) => printedBy(['snapshot', ...words, '--kubeconfig', kubeconfig]);
  try {
    const { admin } = await start();
    const names = Array.from({ length: count }, (_, index) => `map-${index}`);
    for (const name of names) await admin.post(maps, { metadata: { name }, data: { name } });
    expect((await snapshot('save', file)).code).toBe(0);
    await admin.delete(maps);
    const interrupted = snapshot('restore', file, '--yes');
    await eventually('some objects are restored', async () => (await admin.get(maps)).body.items.length > 20);
    await server!.stop();
    await interrupted;
    const next = await start();
    expect((await snapshot('restore', file, '--yes')).code).toBe(0);
    const { items } = (await next.admin.get(maps)).body as { items: { metadata: { name: string }; data: object }[] };
    const own = items.filter(({ metadata }) => metadata.name.startsWith('map-'));
    expect(own.map(({ metadata, data }) => [metadata.name, data])).toEqual(
      [...names].sort().map((name) => [name, { name }]),
    );
  } finally {
    await server?.stop();
    await rm(directory, { recursive: true, force: true });
  }
});
