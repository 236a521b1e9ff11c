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

  it('resumes one of several in a turn, in the order in which they came', async () => {
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
      }
    };
    await Promise.all([work('a'), work('b'), work('c')]);
    isRunning = false;
    expect(seen.map(([name]) => name).join('')).toBe('abcabc');
    expect(new Set(seen.map(([, turn]) => turn)).size).toBe(6);
  });
});
