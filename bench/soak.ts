import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { asCommand, print } from '../scripts/as-command.js';
import { nameIn, numberIn, readOptions, UsageError } from '../scripts/read-options.js';
import { startEtcd, startOurs, stores } from './lib/servers.js';
import { SoakClient } from './soak/soak-client.js';
import { growthOf, SoakFigures, type Minute } from './soak/soak-figures.js';
import { runLoad } from './soak/soak-load.js';

const help = `node dist/bench/soak.js [options]

Serves a mixed load for a long time: informers, writers, lists, watches, definitions of custom kinds that come and go,
tokens and certificates that are replaced. Prints memory (also without mapped files), heap, descriptors and latencies of
each minute, and at the end their growth after the first sixth or 10 minutes. Exits with 1 if memory, heap or descriptors
grow by more than the limit, or if requests fail.

  --minutes N      duration; 60 by default
  --store NAME     embedded (the default), etcd or memory
  --limit PERCENT  growth that is allowed; 10 by default
  --help           prints this help`;

const judged = ['ownMiB', 'heapMiB', 'descriptors'] as const;

async function main(words: readonly string[]): Promise<number> {
  const values = readOptions(words, {
    minutes: { type: 'string', default: '60' },
    store: { type: 'string', default: 'embedded' },
    limit: { type: 'string', default: '10' },
  });
  const store = nameIn('store', values.store, stores);
  const [minutes, limit] = [numberIn('minutes', values.minutes), numberIn('limit', values.limit)];
  if (minutes === 0 || limit === 0) throw new UsageError('--minutes and --limit take numbers above 0');
  const folder = await mkdtemp(join(tmpdir(), 'keelson-soak-'));
  const etcd = store === 'etcd' ? await startEtcd(join(folder, 'etcd')) : undefined;
  const directory = join(folder, 'data');
  const server = await startOurs(directory, store, etcd?.url);
  const client = new SoakClient(server);
  const stopping = new AbortController();
  try {
    print('minute  memory MiB  own MiB  heap MiB  descriptors  read p99 ms  write p99 ms  requests  events  CPU %');
    const figures = new SoakFigures(server, client, 60_000, (minute) => print(lineOf(minute)));
    const load = runLoad(client, directory, stopping.signal);
    await sleep(minutes * 60_000 + 1_000);
    figures.stop();
    stopping.abort();
    client.close();
    await load;
    return verdict(figures.minutes, client.failures, limit);
  } finally {
    await server.stop();
    await etcd?.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

function lineOf(minute: Minute): string {
  const { residentMiB, ownMiB, heapMiB, descriptors, readP99Ms, writeP99Ms, requests, events, cpuPercent } = minute;
  const columns: readonly (readonly [number, number])[] = [
    [minute.minute, 6],
    [residentMiB, 12],
    [ownMiB, 9],
    [heapMiB, 10],
    [descriptors, 13],
    [readP99Ms, 13],
    [writeP99Ms, 14],
    [requests, 10],
    [events, 8],
    [cpuPercent, 7],
  ];
  return columns.map(([value, width]) => value.toFixed(0).padStart(width)).join('');
}

/** Prints the growth of each figure, and the failures. Returns the exit code. */
function verdict(minutes: readonly Minute[], failures: ReadonlyMap<string, number>, limit: number): number {
  let isGood = true;
  for (const figure of [...judged, 'residentMiB', 'readP99Ms', 'writeP99Ms'] as const) {
    const { perHour, share } = growthOf(minutes, figure);
    const isJudged = (judged as readonly string[]).includes(figure);
    const isTooMuch = isJudged && share * 100 > limit;
    if (isTooMuch) isGood = false;
    const note = isTooMuch ? `: more than ${limit} %` : '';
    print(`growth of ${figure}: ${perHour.toFixed(1)} an hour, ${(share * 100).toFixed(1)} % in this run${note}`);
  }
  for (const [what, count] of failures) print(`failed: ${what}: ${count}`);
  return isGood && failures.size === 0 ? 0 : 1;
}

asCommand(import.meta.url, { help, run: main, showsStack: true });
