import { readTestCall, summaryLine } from './run-tests.js';

test.each<{ words: string[]; only: string[]; jest: string[] }>([
  { words: [], only: ['unit', 'contract', 'e2e'], jest: [] },
  { words: ['--only', 'unit'], only: ['unit'], jest: [] },
  { words: ['--only=contract,e2e', '-t', 'watch'], only: ['contract', 'e2e'], jest: ['-t', 'watch'] },
  { words: ['src/cache', '--only', 'unit', '--only', 'e2e'], only: ['unit', 'e2e'], jest: ['src/cache'] },
])('npm test with arguments $words', ({ words, only, jest }) => {
  expect(readTestCall(words)).toEqual({ only, jestArguments: jest });
});

test('an unknown suite is refused', () => {
  expect(() => readTestCall(['--only', 'units'])).toThrow('--only takes unit, contract, e2e, not "units"');
});

const none = {
  numPassedTests: 0,
  numFailedTests: 0,
  numPendingTests: 0,
  numTodoTests: 0,
  numRuntimeErrorTestSuites: 0,
};

test.each([
  { result: { ...none, numPassedTests: 12 }, line: '12 passed, 0 failed' },
  { result: { ...none, numPassedTests: 1, numFailedTests: 2 }, line: '1 passed, 2 failed' },
  {
    result: { ...none, numPassedTests: 3, numPendingTests: 1, numTodoTests: 1 },
    line: '3 passed, 0 failed, 2 skipped',
  },
  { result: { ...none, numPassedTests: 3, numRuntimeErrorTestSuites: 1 }, line: '3 passed, 1 failed' },
  { result: undefined, line: '0 passed, 1 failed' },
])('$line', ({ result, line }) => {
  expect(summaryLine(result)).toBe(line);
});
