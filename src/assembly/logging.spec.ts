import { StorageError } from '../storage/storage-error.js';
import { makeLogger } from './logging.js';

/** Returns the lines that `log` writes. */
function linesOf(log: (logger: ReturnType<typeof makeLogger>) => void): Record<string, unknown>[] {
  const lines: string[] = [];
  log(makeLogger({ level: 'info' }, { write: (line) => void lines.push(line) }));
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

test.each<{ name: string; error: unknown; want: unknown }>([
  { name: 'an error', error: new StorageError('unavailable', 'no answer'), want: 'no answer' },
  {
    name: 'an error with a cause',
    error: new Error('cannot read', { cause: new Error('connection refused') }),
    want: 'cannot read; cause: connection refused',
  },
  { name: 'a text', error: 'no answer', want: 'no answer' },
  {
    name: 'a programming error with its stack',
    error: new TypeError('x is undefined'),
    want: expect.stringMatching(/^TypeError: x is undefined\n +at /),
  },
])('the field error contains the text of $name', ({ error, want }) => {
  const [line, ...more] = linesOf((logger) => logger.warn('failed', { error, object: 'a' }));
  expect(line).toMatchObject({ level: 40, msg: 'failed', error: want, object: 'a' });
  expect(more).toEqual([]);
});

test('debug lines are written only after setVerbosity(4)', () => {
  const lines = linesOf((logger) => {
    logger.debug('before');
    logger.setVerbosity!(4);
    logger.debug('after');
    logger.setVerbosity!(0);
    logger.debug('again');
  });
  expect(lines.map(({ msg }) => msg)).toEqual(['after']);
});
