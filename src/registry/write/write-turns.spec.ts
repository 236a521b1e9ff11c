import { ManualClock } from '../../std/clock.js';
import { WriteTurns, type WriteTurn } from './write-turns.js';

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

function world(limits = { waitingMax: 10, turnMsMax: 1000 }) {
  const clock = new ManualClock();
  const turns = new WriteTurns(clock, limits);
  const started: string[] = [];
  const held = new Map<string, WriteTurn>();
  const write = async (name: string, key = 'k', signal?: AbortSignal) => {
    const turn = await turns.take(key, signal);
    started.push(name);
    held.set(name, turn);
  };
  const leave = async (name: string) => {
    held.get(name)!.leave(undefined);
    await settled();
  };
  return { clock, turns, started, write, leave };
}

it('an uncontended writer gets its turn at once, without a promise', () => {
  const { turns } = world();
  const turn = turns.take('k', undefined);
  expect(turn).not.toBeInstanceOf(Promise);
  (turn as WriteTurn).leave(undefined);
  expect(turns.take('k', undefined)).not.toBeInstanceOf(Promise);
});

it('writers of one object take turns in order of arrival; another object is independent', async () => {
  const { started, write, leave } = world();
  for (const name of ['a', 'b', 'c']) void write(name);
  void write('other', 'l');
  await settled();
  expect(started).toEqual(['a', 'other']);
  await leave('a');
  void write('d');
  await leave('b');
  await leave('c');
  expect(started).toEqual(['a', 'other', 'b', 'c', 'd']);
});

it('a writer beyond turnMsMax is overtaken, and its leave() does not end the next turn', async () => {
  const { clock, started, write, leave } = world();
  void write('slow');
  clock.advance(900);
  void write('b');
  void write('c');
  clock.advance(99);
  await settled();
  expect(started).toEqual(['slow']);
  clock.advance(1);
  await settled();
  expect(started).toEqual(['slow', 'b']);
  await leave('slow');
  expect(started).toEqual(['slow', 'b']);
  clock.advance(1000);
  await settled();
  expect(started).toEqual(['slow', 'b', 'c']);
});

it('a turn beyond turnMsMax without waiting writers is not overtaken', async () => {
  const { clock, started, write } = world();
  void write('slow');
  clock.advance(5000);
  void write('b');
  clock.advance(0);
  await settled();
  expect(started).toEqual(['slow', 'b']);
});

it('writers beyond waitingMax are rejected (429)', async () => {
  const { write } = world({ waitingMax: 2, turnMsMax: 1000 });
  for (const name of ['a', 'b', 'c']) void write(name);
  await expect(write('d')).rejects.toMatchObject({ reason: 'TooManyRequests', code: 429 });
});

it('an aborted writer leaves the queue, and the next writer starts', async () => {
  const { started, write, leave } = world();
  const patience = new AbortController();
  void write('a');
  const gone = write('b', 'k', patience.signal);
  void write('c');
  patience.abort(new Error('gone'));
  await expect(gone).rejects.toThrow('gone');
  await expect(write('late', 'k', patience.signal)).rejects.toThrow('gone');
  await leave('a');
  expect(started).toEqual(['a', 'c']);
});
