import { StartLog } from './start-log.js';
import { ManualClock } from '../std/clock.js';
import type { Logger } from '../std/logger.js';

function world() {
  const lines: string[] = [];
  const at = (level: string) => (message: string, fields?: object) =>
    void lines.push(`${level} ${message}${fields ? ' +' : ''}`);
  const target: Logger = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
  const clock = new ManualClock();
  const log = new StartLog(target, clock);
  log.logger.info('issued a certificate', { file: 'a' });
  log.logger.warn('others could read');
  log.logger.error('listen EADDRINUSE');
  return { lines, clock, log };
}
const all = ['info issued a certificate +', 'warn others could read', 'error listen EADDRINUSE'];

test('nothing is written while the server starts', () => {
  expect(world().lines).toEqual([]);
});

test('a start that succeeds writes the held lines, and later ones at once', () => {
  const { lines, log } = world();
  log.succeeded();
  log.logger.info('later');
  expect(lines).toEqual([...all, 'info later']);
});

test('a start that takes 20 s writes the held lines', () => {
  const { lines, clock } = world();
  clock.advance(20_000);
  expect(lines).toEqual(all);
});

test('a start that fails writes only warnings, including later ones of steps still running', () => {
  const { lines, log } = world();
  log.failed();
  log.logger.info('issued another certificate');
  log.logger.warn('late');
  expect(lines).toEqual(['warn others could read', 'warn late']);
});
