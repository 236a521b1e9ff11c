import { yieldEventLoop } from './yield-event-loop.js';

describe('yieldEventLoop', () => {
  it('resumes after the responses to requests that were read meanwhile', async () => {
    const seen: string[] = [];
    // The work of another request that is read in the next tick, and its response at the end of that tick.
    setImmediate(() => {
      seen.push('read');
      setImmediate(() => seen.push('answered'));
    });
    await yieldEventLoop();
    seen.push('resumed');
    expect(seen).toEqual(['read', 'answered', 'resumed']);
  });

  /** Records the ticks in which three tasks of two stages each run. */
  async function turnsOf(stageMs: number) {
    let turns = 0;
    let isRunning = true;
    const count = () => {
      turns++;
      if (isRunning) setImmediate(count);
    };
    setImmediate(count);
    const seen: [string, number][] = [];
    const work = async (name: string) => {
      for (let stage = 0; stage < 2; stage++) {
        await yieldEventLoop();
        seen.push([name, turns]);
        for (const begin = performance.now(); performance.now() - begin < stageMs;);
      }
    };
    await Promise.all([work('a'), work('b'), work('c')]);
    isRunning = false;
    return { order: seen.map(([name]) => name).join(''), turns: new Set(seen.map(([, turn]) => turn)).size };
  }

  it('resumes long work in order, one stage per tick', async () => {
    expect(await turnsOf(8)).toEqual({ order: 'abcabc', turns: 6 });
  });

  it('resumes short work in one tick', async () => {
    const { order, turns } = await turnsOf(0);
    expect(order).toBe('abcabc');
    expect(turns).toBeLessThan(6);
  });
});
