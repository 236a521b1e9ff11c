import { ManualClock } from '../../std/clock.js';
import { silentLogger } from '../../std/logger.js';
import { SeededRng } from '../../std/rng.js';
import { FailureLog } from './failure-log.js';
import { RetryDelay } from './retry-delay.js';

it('delays of retries are doubled from 200 ms up to 7 s', () => {
  const delay = new RetryDelay(new SeededRng(1));
  const delays = Array.from({ length: 8 }, () => delay.next());
  [200, 400, 800, 1600, 3200, 6400, 7000, 7000].forEach((least, index) => {
    expect(delays[index]).toBeGreaterThanOrEqual(least);
    expect(delays[index]).toBeLessThanOrEqual(Math.min(least * 1.1, 7000));
  });
  delay.reset();
  expect(delay.next()).toBeLessThanOrEqual(220);
});

it('a failure is logged once, again after five minutes, and its end once', () => {
  const clock = new ManualClock();
  const lines: string[] = [];
  const log = (text: string, fields?: object) => void lines.push(`${text} ${JSON.stringify(fields)}`);
  const failures = new FailureLog(clock, { ...silentLogger, warn: log, info: log }, { failed: 'F', recovered: 'R' });
  failures.succeeded();
  for (let attempt = 0; attempt < 4; attempt++) failures.failed(new Error('down'));
  failures.failed(new Error('other'));
  clock.advance(300_000);
  failures.failed(new Error('other'));
  failures.succeeded();
  failures.succeeded();
  expect(lines).toEqual([
    'F {"attempts":1,"error":"down"}',
    'F {"attempts":5,"error":"other"}',
    'F {"attempts":6,"error":"other"}',
    'R {"attempts":6}',
  ]);
});
