import { shell } from '../../test/harness/shell.js';
import { headersFor, sendBytes } from '../answers/answer.js';
import { registerCors } from './cors.hook.js';

const serverFor = (origins: readonly string[]) =>
  shell(
    (request, reply) => sendBytes(request, reply, 200, headersFor(request, 'text/plain'), Buffer.from('hello')),
    (server) => registerCors(server, origins),
  );

interface Row {
  name: string;
  origins: string[];
  method?: 'GET' | 'OPTIONS';
  origin?: string;
  code: number;
  isAllowed: boolean;
}

test.each<Row>([
  {
    name: 'an allowed origin gets CORS headers',
    origins: ['^https://a\\.io$'],
    origin: 'https://a.io',
    code: 200,
    isAllowed: true,
  },
  {
    name: 'one of several allowed origins gets CORS headers',
    origins: ['^x$', '//b\\.io:'],
    origin: 'https://b.io:80',
    code: 200,
    isAllowed: true,
  },
  {
    name: 'a preflight of an allowed origin is answered with 204',
    origins: ['//a:'],
    method: 'OPTIONS',
    origin: 'http://a:1',
    code: 204,
    isAllowed: true,
  },
  {
    name: 'another origin gets no CORS headers',
    origins: ['^https://a\\.io$'],
    origin: 'https://ab.io',
    code: 200,
    isAllowed: false,
  },
  {
    name: 'a preflight of another origin is not answered',
    origins: ['^a$'],
    method: 'OPTIONS',
    origin: 'b',
    code: 200,
    isAllowed: false,
  },
  { name: 'a request without Origin gets no CORS headers', origins: ['^a$'], code: 200, isAllowed: false },
  { name: 'no origin is allowed by default', origins: [], origin: 'a', code: 200, isAllowed: false },
])('$name', async ({ origins, method = 'GET', origin, code, isAllowed }) => {
  const answer = await serverFor(origins).inject({
    method,
    url: '/x',
    headers: origin === undefined ? {} : { origin },
  });
  expect(answer.statusCode).toBe(code);
  expect(answer.headers['access-control-allow-origin']).toBe(isAllowed ? origin : undefined);
  expect(answer.headers['access-control-allow-credentials']).toBe(isAllowed ? 'true' : undefined);
  expect(answer.body).toBe(code === 204 ? '' : 'hello');
});
