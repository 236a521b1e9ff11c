import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asCommand, print } from '../scripts/as-command.js';
import { numberIn, readOptions, wholeNumberIn } from '../scripts/read-options.js';
import { fanOutOn } from './lib/fan-out.js';
import type { LoadJob } from './lib/generator-jobs.js';
import { measure, type Measured } from './lib/load-generator.js';
import { namespace, pod } from './lib/objects.js';
import type { RequestShape } from './lib/requests.js';
import { must, startBare, startOurs, type Server } from './lib/servers.js';
import { svgChart } from './lib/svg-chart.js';

const help = `node dist/bench/growth.js [options]

Measures on the built server what GET, create, a list of 50 and a list by a label of 1 % cost with 1,000 to
100,000 Pods, how long others wait while all Pods are listed, and what an event costs with 10 to 10,000
watchers. Takes ten minutes, and needs Linux and as many file descriptors as watchers.

  --objects N       the most Pods; the default is 100000
  --watchers N      the most watchers; the default is 10000
  --seconds N       duration of each load; the default is 4
  --svg DIRECTORY   draws the curves
  --help            prints this help`;

const warmUpMs = 1000;
/** Loads alternate between the same number of rounds; the least of them counts. */
const rounds = 2;
const namespaceSize = 50;
const rarity = 100;
const eventsPerSecond = 2;

interface Setting {
  readonly ours: Server;
  readonly bare: Server;
  readonly seconds: number;
}
type Request = Omit<RequestShape, 'token'>;

function load({ ours, seconds }: Setting, request: Request, more: Partial<LoadJob> = {}): Promise<Measured> {
  return measure(
    {
      type: 'load',
      target: ours.target,
      request: { ...request, token: ours.token },
      connections: 32,
      seconds,
      requestsMax: Number.MAX_SAFE_INTEGER,
      warmUpMs,
      from: 0,
      ...more,
    },
    [ours.pid],
  );
}

const pods = (name: string) => `/api/v1/namespaces/${name}/pods`;
const get = (path: string): Request => ({ method: 'GET', path });
const post = (path: string, body: string): Request => ({ method: 'POST', path, body });
const rarePod = pod.replace('"app":"bench"', '"app":"rare"');

async function fill(setting: Setting, from: number, to: number): Promise<void> {
  const all = { warmUpMs: 0, seconds: 3600 };
  const rare = Math.round((to - from) / rarity);
  await load(setting, post(pods('many'), pod), { ...all, from, requestsMax: to - from - rare });
  await load(setting, post(pods('many'), rarePod), { ...all, from: to - rare, requestsMax: rare });
}

async function leastOf(run: () => Promise<Measured>): Promise<number> {
  const costs: number[] = [];
  for (let round = 0; round < rounds; round++) costs.push((await run()).cpuMicrosPerUnit);
  return Math.min(...costs);
}

/** CPU in µs of one request of each type, with so many Pods; of the list by label, for each Pod in it. */
async function costsWith(setting: Setting, objects: number): Promise<Record<string, number>> {
  const { ours } = setting;
  const created = `created-${objects}`;
  await must(ours, 'POST', '/api/v1/namespaces', namespace(created));
  const byLabel = get(`${pods('many')}?labelSelector=app%3Drare`);
  const few = { connections: 2 };
  let next = 0;
  const create = async () => {
    const measured = await load(setting, post(pods(created), pod), { from: next });
    next = measured.next;
    return measured;
  };
  const costs = {
    GET: await leastOf(() => load(setting, get(`${pods('few')}/pod-00000001`))),
    create: await leastOf(create),
    'list of 50': await leastOf(() => load(setting, get(pods('few')))),
    'label list, per Pod': (await leastOf(() => load(setting, byLabel, few))) / (objects / rarity),
  };
  await must(ours, 'DELETE', `${pods(created)}?gracePeriodSeconds=0`);
  return costs;
}

/** The p99 of GET in ms, alone and while one client lists all Pods without pause. */
async function waitBesideLists(setting: Setting, list: Request): Promise<{ alone: number; beside: number }> {
  const one = get(`${pods('few')}/pod-00000001`);
  const few = { connections: 4 };
  const { p99Ms: alone } = await load(setting, one, few);
  const lists = load(setting, list, { connections: 1, seconds: 3 * setting.seconds, warmUpMs: 0 });
  const { p99Ms: beside } = await load(setting, one, few);
  await lists;
  return { alone, beside };
}

const powersOfTen = (from: number, to: number): number[] => {
  const found = [];
  for (let count = from; count < to; count *= 10) found.push(count);
  return [...found, to];
};

async function objectGrowth(setting: Setting, most: number): Promise<Curve> {
  const { ours } = setting;
  for (const name of ['few', 'many']) await must(ours, 'POST', '/api/v1/namespaces', namespace(name));
  const all = { warmUpMs: 0, seconds: 3600 };
  await load(setting, post(pods('few'), pod), { ...all, requestsMax: namespaceSize });
  const sizes = powersOfTen(1000, most);
  const measured: Record<string, number>[] = [];
  for (const [index, size] of sizes.entries()) {
    await fill(setting, index === 0 ? 0 : sizes[index - 1]!, size);
    const costs = await costsWith(setting, size);
    measured.push(costs);
    print(`${String(size).padStart(8)} Pods  ${listed(costs, 'µs')}`);
  }
  const encodings = {
    JSON: get(pods('many')),
    protobuf: { ...get(pods('many')), accept: 'application/vnd.kubernetes.protobuf' },
    Table: { ...get(pods('many')), accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' },
    'no match': get(`${pods('many')}?labelSelector=app%3Dnone`),
  };
  for (const [name, request] of Object.entries(encodings)) {
    const { alone, beside } = await waitBesideLists(setting, request);
    print(`GET p99 while ${most} Pods are listed (${name}): ${beside.toFixed(1)} ms, alone ${alone.toFixed(1)} ms`);
  }
  return { xs: sizes, measured };
}

interface Curve {
  readonly xs: readonly number[];
  readonly measured: readonly Record<string, number>[];
}

const listed = (costs: Record<string, number>, unit: string) =>
  Object.entries(costs)
    .map(([name, cost]) => `${name} ${cost.toPrecision(3)} ${unit}`)
    .join('  ');

async function watcherGrowth(setting: Setting, most: number): Promise<Curve> {
  const { ours, seconds } = setting;
  const measured: Record<string, number>[] = [];
  const counts = powersOfTen(10, most);
  for (const watchers of counts) {
    const job = { watchers, seconds, warmUpMs };
    const fanOut = async (more: { perSecond?: number; seconds?: number } = {}) => {
      const figures = await measure(await fanOutOn('ours', setting, { ...job, ...more }), [ours.pid]);
      if (figures.failed > 0) throw new Error(`${figures.failed} events were lost or doubled`);
      return figures;
    };
    const { p50Ms, p99Ms } = await fanOut({ perSecond: eventsPerSecond, seconds: 2 * seconds });
    const { cpuMicrosPerUnit } = await fanOut();
    measured.push({ 'p99 in ms': p99Ms, 'p50 in ms': p50Ms, 'CPU µs an event': cpuMicrosPerUnit });
    print(`${String(watchers).padStart(8)} watchers  ${listed(measured.at(-1)!, '')}`);
  }
  return { xs: counts, measured };
}

function draw(
  directory: string,
  name: string,
  { xs, measured }: Curve,
  words: { title: string; xLabel: string },
): void {
  mkdirSync(directory, { recursive: true });
  const labels = Object.keys(measured[0]!);
  const isRelative = name === 'objects';
  const lines = labels.map((label) => {
    const ys = measured.map((costs) => costs[label]!);
    return { label, ys: isRelative ? ys.map((cost) => cost / ys[0]!) : ys };
  });
  const yLabel = isRelative ? 'CPU time, as a multiple of that with the fewest objects' : 'ms, µs';
  writeFileSync(join(directory, `growth-${name}.svg`), svgChart({ ...words, yLabel, xs, lines }));
}

async function main(words: readonly string[]): Promise<number> {
  const values = readOptions(words, {
    objects: { type: 'string', default: '100000' },
    watchers: { type: 'string', default: '10000' },
    seconds: { type: 'string', default: '4' },
    svg: { type: 'string' },
  });
  const objects = wholeNumberIn('objects', values.objects);
  const watchers = wholeNumberIn('watchers', values.watchers);
  const directory = mkdtempSync(join(tmpdir(), 'keelson-growth-'));
  const ours = await startOurs(directory, 'memory', undefined);
  const bare = await startBare(directory);
  const setting = { ours, bare, seconds: numberIn('seconds', values.seconds) };
  try {
    const byWatchers = await watcherGrowth(setting, watchers);
    const byObjects = await objectGrowth(setting, objects);
    if (values.svg === undefined) return 0;
    draw(values.svg, 'watchers', byWatchers, { title: 'One object, many watchers', xLabel: 'watchers' });
    draw(values.svg, 'objects', byObjects, { title: 'More Pods, the same requests', xLabel: 'Pods' });
    return 0;
  } finally {
    await Promise.all([ours.stop(), bare.stop()]);
    rmSync(directory, { recursive: true, force: true });
  }
}

asCommand(import.meta.url, { help, run: main, showsStack: true });
