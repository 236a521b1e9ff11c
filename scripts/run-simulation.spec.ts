import { UsageError } from './read-options.js';
import { readSimulationCall } from './run-simulation.js';

const random = () => 4711;
const noChurn = { churn: 0, watchers: 200 };

describe('command line of the simulation', () => {
  it.each([
    [[], { seed: 4711, secondsMax: 60, clients: 10, ...noChurn }],
    [['--seed', '5'], { seed: 5, secondsMax: 0, clients: 10, ...noChurn }],
    [['--seed=5', '--seconds', '30'], { seed: 5, secondsMax: 30, clients: 10, ...noChurn }],
    [['--clients', '3'], { seed: 4711, secondsMax: 60, clients: 3, ...noChurn }],
    [['--churn=9', '--watchers=2'], { seed: 4711, secondsMax: 60, clients: 10, churn: 9, watchers: 2 }],
  ])('parses %j', (words, want) => expect(readSimulationCall(words, random)).toEqual(want));

  it.each([[['--sed', '5']], [['--seed']], [['--seed', 'x']], [['--seed', '1.5']], [['--seconds', '-1']]])(
    'refuses %j',
    (words) => expect(() => readSimulationCall(words, random)).toThrow(UsageError),
  );
});
