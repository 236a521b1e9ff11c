import { eventually } from './eventually.js';
import { HttpClient } from './http-client.js';
import type { ServerProcess } from './server-process.js';

/** Clients of each process of a server, with one connection each. */
export interface ProcessClients {
  /** By the number of the process; 0 has the store. */
  readonly of: readonly HttpClient[];
  close(): void;
}

/** Returns the number of the process that answers the client. */
async function processOf(client: HttpClient): Promise<number> {
  const { headers } = await client.get('/debug/pprof/cmdline');
  const [, word, number] = /^(store|worker)(?: (\d+))? \(pid \d+\)$/.exec(String(headers['keelson-process']))!;
  return word === 'store' ? 0 : Number(number);
}

/** Opens connections until each process has one. */
export async function processClients(server: ServerProcess, count: number): Promise<ProcessClients> {
  const { url, ca, client } = server.access;
  const opened: HttpClient[] = [];
  const of: HttpClient[] = [];
  await eventually(`${count} processes serve`, async () => {
    const one = new HttpClient({ url, ca, ...client, protocol: 'h2' });
    opened.push(one);
    // A worker that has just ended cannot answer the connections that it was given.
    const number = await processOf(one).catch(() => undefined);
    if (number !== undefined) of[number] ??= one;
    return Object.keys(of).length === count;
  });
  return {
    of,
    close() {
      for (const one of opened) one.close();
    },
  };
}
