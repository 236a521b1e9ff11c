import { CelFuzz } from '../cel/fuzz-checks.js';
import { chosenSeed } from '../harness/seed.js';

/** FUZZ_PROGRAMS=1000000 tries more programs; FUZZ_SEED=n repeats a run. */
const seed = chosenSeed();
const programsMax = Number(process.env['FUZZ_PROGRAMS'] ?? 20_000);
const timeMs = process.env['FUZZ_PROGRAMS'] === undefined ? 8_000 : 4 * 3_600_000;

describe('random CEL programs on random values', () => {
  it(
    `neither crash nor hang, have the value of their type, and answer the same twice, seed ${seed}`,
    () => {
      process.stderr.write(`fuzz: seed ${seed}\n`);
      // Modules call each other several times slower here than in the bundle, for which src/cel/README.md has the bounds.
      const fuzz = new CelFuzz(seed, { compilationMsMax: 300, evaluationMsMax: 1000 });
      const endMs = performance.now() + timeMs;
      while (fuzz.statistics.programs < programsMax && performance.now() < endMs) {
        const problem = fuzz.next();
        if (problem !== undefined) throw new Error(`seed ${seed}, program ${fuzz.statistics.programs}: ${problem}`);
      }
      const { programs, compiled, evaluated, compilation, evaluation, ...outcomes } = fuzz.statistics;
      process.stderr.write(`fuzz: ${JSON.stringify({ programs, compiled, evaluated, ...outcomes })}\n`);
      for (const [name, { ms, program }] of Object.entries({ compilation, evaluation }))
        process.stderr.write(`fuzz: slowest ${name} ${ms.toFixed()} ms: ${program.slice(0, 300)}\n`);
      // Enough of them have a value, and enough are wrong.
      expect(programs).toBeGreaterThan(100);
      expect(evaluated).toBeGreaterThan(programs / 4);
      expect(compiled).toBeLessThan(2 * programs);
    },
    timeMs + 60_000,
  );
});
