import { after, CacheWorld, initial, jsonRendering, RecordingSink } from '../../test/harness/cache-world.js';
import { ApiError } from '../machinery/api-error.js';
import { Deferred } from '../std/deferred.js';
import { NotReady } from '../std/not-ready.js';
import type { EncodedObject, Rendering } from './encoded-object.js';

/** A rendering that needs an answer of another server for each state of an object. */
class LateRendering {
  readonly asked: string[] = [];
  private readonly answers = new Map<string, Deferred<void>>();
  private readonly done = new Set<string>();
  readonly rendering: Rendering = {
    ...jsonRendering,
    id: 'late',
    render: (object) => {
      const state = stateOf(object);
      if (this.done.has(state)) return object.bytes;
      this.asked.push(state);
      throw new NotReady(this.answerOf(state).promise);
    },
  };

  answer(state: string): void {
    this.done.add(state);
    this.answerOf(state).resolve();
  }

  refuse(state: string, error: Error): void {
    this.answerOf(state).reject(error);
  }

  private answerOf(state: string): Deferred<void> {
    let found = this.answers.get(state);
    if (!found) this.answers.set(state, (found = new Deferred()));
    return found;
  }
}

const stateOf = ({ attributes, revision }: EncodedObject) => `${attributes.name}@${revision}`;

describe('a watch whose frames need another server', () => {
  let world: CacheWorld;
  let late: LateRendering;
  beforeEach(async () => {
    world = await CacheWorld.started();
    late = new LateRendering();
  });
  afterEach(() => world.close());

  it('sends an event when it is ready, and those that came meanwhile after it', async () => {
    const { sink } = world.watch({ rendering: late.rendering });
    const other = world.watch();
    await world.put('a');
    await world.put('b');
    await world.put('a');
    expect([sink.eventLines, other.sink.eventLines.length]).toEqual([[], 3]);
    late.answer('b@3');
    await world.runPending();
    expect(sink.eventLines).toEqual([]);
    late.answer('a@2');
    await world.runPending();
    expect(sink.eventLines).toEqual(['ADDED a@2', 'ADDED b@3']);
    late.answer('a@4');
    await world.runPending();
    expect(sink.eventLines).toEqual(other.sink.eventLines);
  });

  it('sends the initial objects in order, each once', async () => {
    for (const name of ['a', 'b', 'c']) await world.put(name);
    const { sink } = world.watch({ rendering: late.rendering, start: initial, initialEventsEnd: true });
    await world.runPending();
    await world.put('d');
    for (const state of ['c@4', 'b@3', 'a@2', 'd@5']) {
      late.answer(state);
      await world.runPending();
    }
    expect(sink.eventLines).toEqual(['ADDED a@2', 'ADDED b@3', 'ADDED c@4', 'BOOKMARK @4 end', 'ADDED d@5']);
  });

  it('sends events of the history in order, each once', async () => {
    await world.put('a');
    const { sink } = world.watch({ rendering: late.rendering, start: after(1) });
    await world.put('b');
    await world.runPending();
    for (const state of ['b@3', 'a@2']) {
      late.answer(state);
      await world.runPending();
    }
    expect(sink.eventLines).toEqual(['ADDED a@2', 'ADDED b@3']);
  });

  it('continues where it was if its client takes frames slowly', async () => {
    const slow = world.watch({ rendering: late.rendering }, new RecordingSink(1));
    await world.put('a');
    await world.put('b');
    late.answer('a@2');
    await world.runPending();
    expect(slow.sink.eventLines).toEqual(['ADDED a@2']);
    late.answer('b@3');
    await world.runPending();
    expect(slow.sink.eventLines).toEqual(['ADDED a@2']);
    slow.sink.room = 1;
    slow.drained();
    await world.runPending();
    expect([slow.sink.eventLines, slow.sink.overruns]).toEqual([['ADDED a@2', 'ADDED b@3'], 0]);
  });

  it('ends with the error of the other server', async () => {
    const { sink } = world.watch({ rendering: late.rendering });
    await world.put('a');
    late.refuse('a@2', new ApiError({ reason: 'Unknown', message: 'conversion webhook failed' }));
    await world.runPending();
    expect([sink.eventLines, sink.isEnded]).toEqual([['ERROR 500 conversion webhook failed'], true]);
    expect(sink.events[0]!.object).not.toHaveProperty('reason');
  });

  it('forgets the answer after it was closed', async () => {
    const watch = world.watch({ rendering: late.rendering });
    await world.put('a');
    watch.close();
    late.refuse('a@2', new Error('too late'));
    await world.runPending();
    expect([watch.sink.eventLines, world.cache.watchCount]).toEqual([[], 0]);
  });
});
