import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { asCommand, print } from '../scripts/as-command.js';
import { nameIn, namesIn, numberIn, readOptions, UsageError } from '../scripts/read-options.js';
import { productVersion } from '../src/config/version.js';
import { startEtcd, stores, type StoreName } from './lib/servers.js';
import { hasWrk } from './lib/wrk.js';
import { scenarios, startBoth, type Row, type World } from './scenarios.js';

const help = `npm run bench -- [options]
node dist/bench/bench.js [options]

Starts the built server and a bare Node HTTPS server that sends prepared bytes, puts the same load on both in
the same run, and prints figures and ratios on one screen. Both are measured in turns, in short slices; a row has the
best slice of each. Compare the ratio of CPU time first: other programs on the machine hardly change it.
Takes about six minutes, and needs Linux.

  --only NAME,…     runs only these scenarios: ${scenarios.map(({ name }) => name).join(', ')}
                    may be repeated
  --seconds N       duration of each load, at least 1; the default is 8
  --store NAME      embedded (the default), memory or etcd
  --wrk             generates the load of GET and LIST with wrk, which must be on PATH
  --json            prints the figures as JSON
  --help            prints this help`;

/** From this share of a core on, the generator may limit the rate. */
const saturatedCores = 0.9;
const noisyCores = 0.2;

async function main(words: readonly string[]): Promise<number> {
  const values = readOptions(words, {
    only: { type: 'string', multiple: true, default: [] },
    seconds: { type: 'string', default: '8' },
    store: { type: 'string', default: 'embedded' },
    wrk: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  });
  const known = scenarios.map(({ name }) => name);
  const names = values.only.flatMap((text) => namesIn('only', text, known));
  const store = nameIn('store', values.store, stores);
  const seconds = numberIn('seconds', values.seconds);
  if (seconds < 1) throw new UsageError('--seconds takes a number of at least 1');
  if (values.wrk && !hasWrk()) throw new UsageError('--wrk: wrk is not on PATH');

  const directory = mkdtempSync(join(tmpdir(), 'keelson-bench-'));
  const etcd = store === 'etcd' ? await startEtcd(join(directory, 'etcd')) : undefined;
  const setting = { directory: join(directory, 'server'), store, etcdUrl: etcd?.url, seconds, usesWrk: values.wrk };
  const world: World = { ...setting, servers: await startBoth(setting) };
  try {
    const rows: Row[] = [];
    if (!values.json) print(heading(store));
    for (const { name, run } of scenarios) {
      if (names.length > 0 && !names.includes(name)) continue;
      const made = await run(world);
      rows.push(...made);
      if (!values.json) made.forEach((row) => print(line(row)));
    }
    if (values.json)
      print(JSON.stringify({ version: productVersion, node: process.version, store, seconds, rows }, null, 2));
    else print(notes(rows));
  } finally {
    await Promise.all([world.servers.ours.stop(), world.servers.bare.stop()]);
    await etcd?.stop();
    rmSync(directory, { recursive: true, force: true });
  }
  return 0;
}

const whole = (value: number) => Math.round(value).toLocaleString('en-US');
const short = (value: number) => (value >= 100 ? whole(value) : value.toPrecision(3));
const times = (ratio: number) => `${ratio >= 10 ? ratio.toFixed(0) : ratio.toFixed(2)} x`;

function columns(cells: readonly string[]): string {
  const [label = '', ...rest] = cells;
  const widths = [11, 11, 9, 10, 6, 11, 11];
  return label.padEnd(27) + rest.map((cell, index) => cell.padStart(widths[index]!)).join('');
}

function heading(store: StoreName): string {
  const machine = `${cpus().length} cores, Node ${process.version}`;
  return [
    `Keelson ${productVersion} on ${store} beside a bare Node HTTPS server that sends prepared bytes (${machine})`,
    '',
    columns(['', 'Keelson', 'bare Node', 'reached', 'target', '', 'Keelson', 'bare Node']),
    columns(['', 'CPU µs', 'CPU µs', '', '', '', 'a second', 'a second']),
  ].join('\n');
}

function line(row: Row): string {
  const { label, target } = row;
  const verdict = (reached: number) => (target === undefined ? '' : reached <= target ? 'ok' : 'over');
  if (row.type === 'size') {
    const { unit, ours, bare } = row;
    const sizes = [ours, bare].map((size) => `${whole(size)} ${unit}`);
    const limit = target === undefined ? '' : `≤ ${target} ${unit}`;
    return columns([label, ...sizes, times(ours / bare), limit, verdict(ours)]);
  }
  const { ours, bare } = row;
  const [first, second] = [ours, bare].map(
    ({ perSecond, generatorCores }) => short(perSecond) + (generatorCores > saturatedCores ? '*' : ''),
  );
  const ratio = ours.cpuMicrosPerUnit / bare.cpuMicrosPerUnit;
  const limit = target === undefined ? '' : `≤ ${target} x`;
  return columns([
    ...[label, short(ours.cpuMicrosPerUnit), short(bare.cpuMicrosPerUnit), times(ratio), limit, verdict(ratio)],
    ...[first!, second!],
  ]);
}

function notes(rows: readonly Row[]): string {
  const loads = rows.flatMap((row) => (row.type === 'load' ? [row] : []));
  const lines = [''];
  if (loads.some(({ ours, bare }) => Math.max(ours.generatorCores, bare.generatorCores) > saturatedCores)) {
    lines.push('* the generator used a whole core: the server may be faster');
  }
  for (const { label, ours, bare } of loads) {
    if (ours.failed + bare.failed > 0) lines.push(`! ${label}: ${ours.failed} failed or lost (bare: ${bare.failed})`);
    const noise = Math.max(ours.otherCores, bare.otherCores);
    if (noise > noisyCores) lines.push(`~ ${label}: other programs used ${noise.toFixed(2)} cores meanwhile`);
  }
  const lost = loads.every(({ ours, bare }) => ours.failed + bare.failed === 0);
  if (loads.length > 0 && lost) lines.push('nothing failed, no event was lost');
  return lines.join('\n');
}

asCommand(import.meta.url, { help, run: main, showsStack: true });
