import { shell } from '../../test/harness/shell.js';
import { silentLogger, type Logger } from '../std/logger.js';
import { answerLogVerbosity } from './log-verbosity.js';

const set: number[] = [];
const adjustable: Logger = { ...silentLogger, setVerbosity: (verbosity) => void set.push(verbosity) };

describe('/debug/flags/v', () => {
  it.each<[logger: Logger, method: 'GET' | 'PUT', body: string, code: number, verbosities: number[]]>([
    [adjustable, 'PUT', '4', 200, [4]],
    [adjustable, 'PUT', ' 0\n', 200, [0]],
    [adjustable, 'PUT', 'much', 400, []],
    [adjustable, 'PUT', '-1', 400, []],
    [adjustable, 'PUT', '1'.repeat(1000), 400, []],
    [adjustable, 'PUT', '1'.repeat(10_000), 413, []],
    [adjustable, 'GET', '', 406, []],
    [silentLogger, 'PUT', '4', 500, []],
  ])('case %#', async (logger, method, payload, code, verbosities) => {
    set.length = 0;
    const server = shell((request, reply) => answerLogVerbosity(logger, request, reply));
    const headers = { 'content-type': 'text/plain' };
    const given = method === 'PUT' ? { payload, headers } : {};
    expect((await server.inject({ method, url: '/debug/flags/v', ...given })).statusCode).toBe(code);
    expect(set).toEqual(verbosities);
  });
});
