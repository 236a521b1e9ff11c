import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { revisionOf, type Revision } from '../../src/machinery/revision.js';
import { SeededRng } from '../../src/std/rng.js';
import { EmbeddedStore } from '../../src/storage/backends/embedded/embedded-store.js';
import { search } from '../../src/storage/backends/search.js';
import type { KvStore, StoreEvent } from '../../src/storage/kv-store.js';
import { Recorder } from './kv-store.contract.js';

const writerProgram = join(__dirname, '../harness/embedded-writer.mjs');
const built = join(__dirname, '../../dist/src/storage/backends/embedded/embedded-store.js');
const rounds = 20;

/** A writer process, with the lines that it printed. */
class Writer {
  readonly acknowledged = new Map<number, string>();
  compacted = 0;
  readAfterFailure = 0;
  failure: string | undefined;
  private readonly child: ChildProcess;
  private readonly ended: Promise<void>;
  private begun!: () => void;
  /** Resolves when its first write was acknowledged or failed. */
  readonly hasBegun = new Promise<void>((resolve) => (this.begun = resolve));

  constructor(directory: string, round: number, shell?: string) {
    const command = [process.execPath, writerProgram, directory, `${round}`];
    this.child = shell
      ? spawn('sh', ['-c', `${shell}; exec "$@"`, 'sh', ...command], { stdio: ['ignore', 'pipe', 'ignore'] })
      : spawn(command[0]!, command.slice(1), { stdio: ['ignore', 'pipe', 'inherit'] });
    const heard = new Promise((resolve) => this.child.stdout!.once('close', resolve));
    let unfinished = '';
    this.child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      const lines = (unfinished + text).split('\n');
      // SIGKILL can cut the last line, which then acknowledges nothing.
      unfinished = lines.pop()!;
      for (const line of lines) this.hear(line);
    });
    const exited = new Promise((resolve) => this.child.once('exit', resolve));
    this.ended = Promise.all([heard, exited]).then(() => undefined);
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.ended;
  }

  async end(): Promise<void> {
    await this.ended;
  }

  private hear(line: string): void {
    const [what, revision] = line.split(' ', 2);
    if (what === 'failed') this.failure = line;
    else if (what === 'read') this.readAfterFailure = Number(revision);
    else if (what === 'compacted') this.compacted = Number(revision);
    else if (what !== 'open') this.acknowledged.set(Number(revision), line);
    if (what !== 'open' && what !== 'compacted') this.begun();
  }
}

const asWords = (event: StoreEvent) =>
  event.type === 'put'
    ? `put ${event.revision} ${event.key} ${event.item.value.toString()}`
    : `delete ${event.revision} ${event.key}`;

async function firstKept(store: KvStore): Promise<Revision> {
  const head = await store.revision();
  const isKept: boolean[] = [];
  for (let revision = 1; revision <= head; revision++) {
    isKept.push(
      await store.get('', { revision: revisionOf(revision) }).then(
        () => true,
        () => false,
      ),
    );
  }
  return revisionOf(1 + search(head, (at) => isKept[at]!));
}

async function stateAt(store: KvStore, revision?: Revision): Promise<Map<string, string>> {
  const { items } = await store.range('', revision === undefined ? {} : { revision });
  return new Map(items.map(({ key, value }) => [key, value.toString()]));
}

/** Checks the store of a killed process. Returns its last revision. */
async function verify(directory: string, writer: Writer): Promise<Revision> {
  const store = await EmbeddedStore.open({ directory });
  try {
    const head = await store.revision();
    const floor = await firstKept(store);
    expect(floor).toBeGreaterThanOrEqual(writer.compacted);
    expect(head).toBeGreaterThanOrEqual(Math.max(1, ...writer.acknowledged.keys()));

    const recorder = new Recorder('');
    recorder.watch = store.watch('', { from: floor, withPrevious: true }, recorder);
    await recorder.reached(head);
    recorder.watch.close();
    const history = new Map(recorder.delivered.map((event) => [Number(asWords(event).split(' ', 2)[1]), event]));

    // Contiguous: every kept revision has events. Revision 1 is the empty store.
    const first = Math.max(floor, 2);
    expect([...history.keys()]).toEqual(Array.from({ length: head - first + 1 }, (_, i) => first + i));
    // Durable: every acknowledged write is in the history, as acknowledged.
    for (const [revision, words] of writer.acknowledged) {
      if (revision >= floor) expect(asWords(history.get(revision)!)).toBe(words);
    }
    // Replayable: the oldest state plus the history since then equals the latest state.
    const state = await stateAt(store, floor);
    for (const [revision, event] of history) {
      if (revision === floor) continue;
      const { key, item, previous } = event;
      expect(previous?.value.toString()).toBe(state.get(key));
      if (item) state.set(key, item.value.toString());
      else state.delete(key);
    }
    expect(await stateAt(store)).toEqual(new Map([...state].sort()));
    return head;
  } finally {
    await store.close();
  }
}

describe('an embedded store after SIGKILL', () => {
  let root: string;

  beforeAll(async () => {
    if (!existsSync(built)) throw new Error(`the server is not built: ${built} is missing; run "npm run build"`);
    root = await mkdtemp(join(tmpdir(), 'keelson-kill-'));
  });
  afterAll(() => rm(root, { recursive: true, force: true }));

  it(`keeps all acknowledged writes, ${rounds} times in a row`, async () => {
    const seed = process.pid;
    const rng = new SeededRng(seed);
    const directory = join(root, 'killed');
    let head = revisionOf(1);
    let acknowledged = 0;
    for (let round = 0; round < rounds; round++) {
      const writer = new Writer(directory, round);
      await writer.hasBegun;
      await sleep(rng.below(400));
      await writer.kill();
      expect(writer.failure).toBeUndefined();
      const next = await verify(directory, writer);
      expect(next).toBeGreaterThan(head);
      head = next;
      acknowledged += writer.acknowledged.size;
    }
    expect(acknowledged).toBeGreaterThan(rounds);
  });

  it('rejects a second process with the pid of the first', async () => {
    const directory = join(root, 'shared');
    const store = await EmbeddedStore.open({ directory });
    const writer = new Writer(directory, 0);
    await writer.end();
    await store.close();
    expect(writer.failure).toMatch(/^failed locked /);
    expect(writer.failure).toContain(directory);
    expect(writer.failure).toContain(`pid ${process.pid};`);
  });

  it('a full disk fails writes, and loses no acknowledged write', async () => {
    const directory = join(root, 'full');
    // A limit on file size simulates a full disk: 2 to 4 MB, as shells count in different blocks.
    const writer = new Writer(directory, 0, `trap '' XFSZ; ulimit -f 4000`);
    await writer.end();
    // LMDB reports a short write as an I/O error.
    expect(writer.failure).toMatch(/^failed (full|unavailable .*Input\/output error)/);
    expect(writer.acknowledged.size).toBeGreaterThan(0);
    expect(writer.readAfterFailure).toBeGreaterThanOrEqual(Math.max(...writer.acknowledged.keys()));
    await verify(directory, writer);
  });
});
