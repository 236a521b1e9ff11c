import { letOthersRun } from './let-others-run.js';

describe('letOthersRun', () => {
  it('resumes behind what other requests put at the end of the turn in which they are read', async () => {
    const seen: string[] = [];
    // Work of another request that is read in the next turn, and its answer at the end of that turn.
    setImmediate(() => {
      seen.push('read');
      setImmediate(() => seen.push('answered'));
    });
    await letOthersRun();
    seen.push('resumed');
    expect(seen).toEqual(['read', 'answered', 'resumed']);
  });

  /** The turns in which three pieces of work of two stages each go on. */
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
        await letOthersRun();
        seen.push([name, turns]);
        for (const begin = performance.now(); performance.now() - begin < stageMs;);
      }
    };
    await Promise.all([work('a'), work('b'), work('c')]);
    isRunning = false;
    return { order: seen.map(([name]) => name).join(''), turns: new Set(seen.map(([, turn]) => turn)).size };
  }

  it('resumes long work one stage a turn, in the order in which it came', async () => {
    expect(await turnsOf(8)).toEqual({ order: 'abcabc', turns: 6 });
  });

  it('resumes short work together', async () => {
    const { order, turns } = await turnsOf(0);
    expect(order).toBe('abcabc');
    expect(turns).toBeLessThan(6);
  });
});
