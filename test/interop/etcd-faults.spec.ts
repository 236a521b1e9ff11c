import { runFaults } from '../../scripts/faults/fault-run.js';
import { describeWithEtcd } from '../harness/etcd.js';
import { chosenSeed } from '../harness/seed.js';

/** FAULT_SECONDS=600 is a long run; `node dist/scripts/run-faults.js --help` describes more. */
const seconds = Number(process.env['FAULT_SECONDS'] ?? 8);

describeWithEtcd('two servers on three members of etcd with faults between them', () => {
  it.each([
    ['leaders are killed, paused and cut off', 1, ['kill-leader', 'pause-leader', 'isolate-leader', 'compact']],
    ['lines are cut, silent and half open', 1, ['half-open-down', 'one-line', 'cut-lines', 'kill-server', 'garbage']],
    ['workers are killed and paused', 2, ['kill-worker', 'pause-worker', 'kill-leader', 'cut-lines']],
  ])(
    'lose nothing and serve nothing stale while %s',
    async (_about, workers, only) => {
      const seed = chosenSeed();
      const report = await runFaults({ seed, seconds, servers: 2, workers, writers: 6, only });
      process.stderr.write(`faults: seed ${seed}, ${JSON.stringify(report.counts)}\n`);
      expect(report.violations.slice(0, 10)).toEqual([]);
      expect(report.counts['acknowledged']).toBeGreaterThan(0);
    },
    seconds * 1_000 + 240_000,
  );
});
