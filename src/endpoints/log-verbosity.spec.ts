import { shell } from '../../test/harness/shell.js';
import { silentLogger, type Logger } from '../std/logger.js';
import { answerLogVerbosity } from './log-verbosity.js';

const set: number[] = [];
const adjustable: Logger = { ...silentLogger, setVerbosity: (verbosity) => void set.push(verbosity) };

describe('/debug/flags/v', () => {
  it.each<[name: string, code: number, method: 'GET' | 'PUT', body: string, logger: Logger, verbosities: number[]]>([
    ['a number', 200, 'PUT', '4', adjustable, [4]],
    ['a number between blanks', 200, 'PUT', ' 0\n', adjustable, [0]],
    ['a word', 400, 'PUT', 'much', adjustable, []],
    ['a negative number', 400, 'PUT', '-1', adjustable, []],
    ['a number of 1000 digits', 400, 'PUT', '1'.repeat(1000), adjustable, []],
    ['a body above the bound', 413, 'PUT', '1'.repeat(10_000), adjustable, []],
    ['GET', 406, 'GET', '', adjustable, []],
    ['a logger with fixed verbosity', 500, 'PUT', '4', silentLogger, []],
  ])('%s is answered with %i', async (_, code, method, payload, logger, verbosities) => {
    set.length = 0;
    const server = shell((request, reply) => answerLogVerbosity(logger, request, reply));
    const headers = { 'content-type': 'text/plain' };
    const given = method === 'PUT' ? { payload, headers } : {};
    expect((await server.inject({ method, url: '/debug/flags/v', ...given })).statusCode).toBe(code);
    expect(set).toEqual(verbosities);
  });
});
