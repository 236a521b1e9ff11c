import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../harness/eventually.js';
import { HttpClient } from '../harness/http-client.js';
import { processClients } from '../harness/process-clients.js';
import { ServerProcess } from '../harness/server-process.js';

const maps = '/api/v1/namespaces/default/configmaps';
const map = (name: string) => ({ metadata: { name }, data: { text: 'x'.repeat(9_000) } });

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe('processes of a server', () => {
  let directory: string;
  let server: ServerProcess;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'keelson-workers-'));
  });
  afterEach(async () => {
    await server.kill();
    await rm(directory, { recursive: true, force: true });
  });
  const start = async (...flags: string[]) => {
    server = await ServerProcess.start(directory, ['--storage-backend=embedded', '--workers=2', ...flags]);
    return processClients(server, 2);
  };

  it('a worker that is killed is logged and replaced, and loses no acknowledged write', async () => {
    const clients = await start();
    const [first] = server.workers;
    const acknowledged: string[] = [];
    for (let at = 0; at < 20; at++) {
      if ((await clients.of[1]!.post(maps, map(`kept-${at}`))).code === 201) acknowledged.push(`kept-${at}`);
    }
    process.kill(first!, 'SIGKILL');
    // The process with the store serves meanwhile.
    expect((await clients.of[0]!.get(maps)).body.items.length).toBeGreaterThanOrEqual(20);
    const again = await processClients(server, 2);
    const { body } = await again.of[1]!.get(maps);
    const names = new Set(body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name));
    expect(acknowledged.filter((name) => !names.has(name))).toEqual([]);
    expect(server.workers).toHaveLength(1);
    expect(server.workers[0]).not.toBe(first);
    expect(server.output).toMatch(new RegExp(`"worker":1,"pid":${first},.*"signal":"SIGKILL".*has ended`));
    clients.close();
    again.close();
  });

  it('a worker that is stopped gets no connections, and is killed and replaced after a minute', async () => {
    const clients = await start();
    const [stopped] = server.workers;
    process.kill(stopped!, 'SIGSTOP');
    const unanswered = clients.of[1]!.get(maps).then(
      () => 'answered',
      () => 'closed',
    );
    // It gets connections until it has been silent for two seconds.
    await sleep(3_000);
    const { url, ca, client } = server.access;
    const others = Array.from({ length: 4 }, () => new HttpClient({ url, ca, ...client }));
    expect((await Promise.all(others.map((other) => other.get(maps)))).map(({ code }) => code)).toEqual([
      200, 200, 200, 200,
    ]);
    expect(await unanswered).toBe('closed');
    const again = await processClients(server, 2);
    expect(server.workers).not.toContain(stopped);
    expect(server.output).toMatch(new RegExp(`"worker":1,"pid":${stopped},.*"why":"killed because it did not report`));
    for (const one of [clients, again, ...others]) one.close();
  }, 120_000);

  it('SIGTERM ends watches of all processes, and all processes exit', async () => {
    const clients = await start();
    const { workers } = server;
    const watches = await Promise.all(clients.of.map((client) => client.watch(`${maps}?watch=1`)));
    const last = await Promise.all(clients.of.map((client, at) => client.post(maps, map(`before-the-end-${at}`))));
    expect(last.map(({ code }) => code)).toEqual([201, 201]);
    for (const watch of watches) {
      const awaited = new Set(last.map(({ body }) => body.metadata.name));
      while (awaited.size > 0) {
        const [event] = await watch.take(1);
        awaited.delete(event!.object.metadata.name);
      }
    }
    const ends = watches.map(async (watch) => {
      await watch.rest();
      return watch.ended;
    });
    expect(await server.stop('SIGTERM')).toBe(0);
    expect(await Promise.all(ends)).toEqual(['complete', 'complete']);
    expect(workers.filter(isRunning)).toEqual([]);
    clients.close();
    // Acknowledged writes are in the store.
    await server.start();
    const { url, ca, client } = server.access;
    const reader = new HttpClient({ url, ca, ...client });
    expect((await reader.get(`${maps}/before-the-end-1`)).code).toBe(200);
    reader.close();
  });

  it('workers end when the process with the store is killed', async () => {
    const clients = await start();
    const { workers } = server;
    expect(workers).toHaveLength(1);
    await server.kill();
    await eventually('the workers have ended', () => workers.every((pid) => !isRunning(pid)));
    clients.close();
  });

  it('all processes write whole lines to one audit log', async () => {
    const policy = join(directory, 'policy.yaml');
    const log = join(directory, 'audit.log');
    await writeFile(policy, 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{ level: RequestResponse }]\n');
    const clients = await start(`--audit-policy-file=${policy}`, `--audit-log-path=${log}`);
    await Promise.all(
      clients.of.map(async (client, process) => {
        await Promise.all(Array.from({ length: 20 }, (_, at) => client.post(maps, map(`audited-${process}-${at}`))));
      }),
    );
    clients.close();
    expect(await server.stop('SIGTERM')).toBe(0);
    const events = (await readFile(log, 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const made = events.filter(({ verb, stage, objectRef }) => {
      return verb === 'create' && stage === 'ResponseComplete' && objectRef.resource === 'configmaps';
    });
    const names = made.map(({ objectRef }) => objectRef.name as string).filter((name) => name.startsWith('audited-'));
    expect(names).toHaveLength(40);
    expect(new Set(names).size).toBe(40);
  });
});
