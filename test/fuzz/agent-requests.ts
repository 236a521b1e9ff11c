import fc from 'fast-check';
import type { FuzzRequest } from './requests.js';

// Requests to an agent whose runtime has the Pod default/web-1 (uid-1) with the containers `live`, which runs, and `done`,
// which has ended: its log can be followed to its end.

const plainPaths = [
  ...['/healthz', '/healthz/ping', '/healthz/log', '/healthz/syncloop', '/pods', '/pods/', '/runningpods/', '/configz'],
  ...['/spec', '/spec/', '/stats', '/stats/summary', '/metrics', '/metrics/cadvisor', '/metrics/resource'],
  ...['/metrics/probes', '/logs', '/logs/', '/logs/sub/', '/logs/sub/a.log', '/logs/sub/link', '/logs/pipe'],
  ...['/containerLogs/default/web-1/done', '/run/default/web-1/live', '/run/default/web-1/uid-1/live', '/'],
  ...['/checkpoint/default/web-1/live', '/checkpoint/default/web-1/done', '/debug/pprof/', '/debug/flags/v'],
];
const streamPaths = [
  ...['/exec/default/web-1/live', '/exec/default/web-1/uid-1/live', '/attach/default/web-1/live'],
  ...['/attach/default/web-1/uid-1/live', '/portForward/default/web-1', '/portForward/default/web-1/uid-1'],
];
const validPaths = [...plainPaths, ...streamPaths];

const oddSteps = [
  ...[
    '',
    '.',
    '..',
    '%2e',
    '%2e%2e',
    '.%2e',
    '..%2f',
    '%2f',
    '%2f..%2f..',
    '%5c',
    '..%5c',
    '..\\',
    '%252e%252e',
    '%00',
  ],
  ...[
    '%',
    '%2',
    '%zz',
    '%c3%28',
    '%ff',
    '%ed%a0%80',
    '%F0%9F%92%A9',
    '%0a',
    '%0d%0a',
    '+',
    ';',
    '*',
    '~',
    '{uid}',
    '#',
  ],
  ...['__proto__', 'constructor', 'toString', 'a'.repeat(300), 'a'.repeat(9_000), 'x:y', '[::1]', '@', '$(id)', '`id`'],
  ...[
    'default',
    'web-1',
    'done',
    'uid-1',
    'LOGS',
    'sub',
    'up',
    'absolute',
    'outside',
    'loop',
    'pipe',
    'a.log',
    'secret',
  ],
];
const step = fc.oneof(fc.constantFrom(...oddSteps), fc.webSegment({ size: 'small' }));

/** Replaces, inserts or removes a step of a path. */
const changed = fc
  .tuple(fc.constantFrom(...validPaths), fc.nat({ max: 5 }), fc.constantFrom(0, 1), fc.array(step, { maxLength: 2 }))
  .map(([valid, at, count, steps]) => {
    const all = valid.slice(1).split('/');
    all.splice(at, count, ...steps);
    return `/${all.join('/')}`;
  });
/** The same path in other letters: a letter is escaped or in upper case. */
const respelled = fc
  .tuple(fc.constantFrom(...validPaths), fc.nat({ max: 30 }), fc.boolean())
  .map(([valid, at, isEscaped]) => {
    const letter = valid[at];
    if (letter === undefined || at === 0) return valid;
    const other = isEscaped ? `%${letter.charCodeAt(0).toString(16)}` : letter.toUpperCase();
    return valid.slice(0, at) + other + valid.slice(at + 1);
  });
const path = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...validPaths) },
  { weight: 5, arbitrary: changed },
  { weight: 2, arbitrary: respelled },
  { weight: 4, arbitrary: fc.array(step, { maxLength: 5 }).map((steps) => `/logs/${steps.join('/')}`) },
  { weight: 1, arbitrary: fc.array(step, { maxLength: 9 }).map((steps) => `/${steps.join('/')}`) },
  { weight: 1, arbitrary: fc.constantFrom(...validPaths).map((valid) => `https://node${valid}`) },
  { weight: 1, arbitrary: fc.constantFrom('*', '//', '//logs/sub/a.log', '/\\', 'logs/', '?', '/?/../logs') },
);

const numbers = ['', '0', '1', '-1', '+1', '1.5', '1e9', '99999999999999999999', 'x', '0x10', '١', 'NaN', 'Infinity'];
const flags = ['', '0', '1', 'true', 'false', 'x'];
const parameters: Readonly<Record<string, readonly string[]>> = {
  timeout: numbers,
  tailLines: numbers,
  tail: [...numbers, 'all'],
  limitBytes: numbers,
  sinceSeconds: numbers,
  sinceTime: [
    '',
    '2026-01-02T03:04:05Z',
    '2026-13-45T99:99:99Z',
    '0000-00-00T00:00:00Z',
    'x',
    '2026-01-02T03:04:05.1+99:99',
  ],
  stream: ['', 'All', 'Stdout', 'Stderr', 'x', '__proto__'],
  follow: flags,
  previous: flags,
  timestamps: flags,
  only_cpu_and_memory: flags,
  stdin: flags,
  input: flags,
  stdout: flags,
  output: flags,
  stderr: flags,
  error: flags,
  tty: flags,
  command: ['', 'ls', '\0', 'x'.repeat(5_000), '💩'],
  cmd: ['', 'ls', ' ', 'ls  -l', '\0', 'x'.repeat(5_000)],
  port: [...numbers, '80', '80,443', '65536', ',', '80,,'],
  query: ['kubelet', '../../etc/passwd', ''],
};
const pair = fc
  .constantFrom(...Object.keys(parameters))
  .chain((name) => fc.constantFrom(...parameters[name]!).map((value) => `${name}=${encodeURIComponent(value)}`));
const query = fc
  .array(
    fc.oneof(
      { weight: 8, arbitrary: pair },
      { weight: 1, arbitrary: fc.constantFrom('%', '&', '=', 'a=b=c', '%zz=%') },
    ),
    {
      maxLength: 4,
    },
  )
  .map((pairs) => (pairs.length === 0 ? '' : `?${pairs.join('&')}`));

const oddValues = ['', 'x', ',', ';;', '"', '%00', '0', '-1', '__proto__', '*/*', 'a'.repeat(9_000)];
const headerNames = [
  ...['range', 'if-modified-since', 'if-none-match', 'if-range', 'accept', 'accept-encoding', 'content-type', 'cookie'],
  ...['x-remote-user', 'x-remote-group', 'impersonate-user', 'x-forwarded-for', 'x-forwarded-uri', 'x-original-url'],
  ...['x-http-method-override', 'x-stream-protocol-version', 'sec-websocket-key', 'sec-websocket-protocol', 'origin'],
  ...[
    'forwarded',
    'expect',
    'te',
    'trailer',
    'via',
    'user-agent',
    'traceparent',
    'max-forwards',
    'connection',
    '__proto__',
  ],
];
const header = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(fc.constantFrom(...headerNames), fc.constantFrom(...oddValues)) },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom(
        'Bearer x',
        'bearer',
        'Bearer  a b',
        'Basic YTpi',
        `Bearer ${'x'.repeat(20_000)}`,
        'Bearer a.b.c',
        'Negotiate x',
      )
      .map((value): [string, string] => ['authorization', value]),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom('websocket', 'SPDY/3.1', 'h2c', 'x')
      .map((value): [string, string] => ['upgrade', value]),
  },
  {
    weight: 1,
    arbitrary: fc.integer({ min: 1, max: 30_000 }).map((n): [string, string] => ['x-large', 'x'.repeat(n)]),
  },
);
const body = fc.oneof(
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  fc.integer({ min: 0, max: 200_000 }).map((length) => Buffer.alloc(length, 'x')),
  fc.constantFrom('{}', 'null', '{"__proto__":{"a":1}}', 'level=9').map((text) => Buffer.from(text)),
);
const methods = [
  ...['GET', 'GET', 'GET', 'GET', 'POST', 'POST', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'],
  ...['BREW', 'get', 'CONNECT'],
];

/** Requests to every path of an agent, and to paths that are similar. */
export const agentRequests: fc.Arbitrary<FuzzRequest> = fc
  .tuple(
    fc.constantFrom(...methods),
    path,
    query,
    fc.array(header, { maxLength: 3 }),
    fc.option(body, { freq: 4, nil: undefined }),
    fc.constantFrom<NonNullable<FuzzRequest['framing']>>(
      'length',
      'length',
      'chunks',
      'tooMuch',
      'tooLittle',
      'badChunk',
    ),
  )
  .map(([method, at, search, headers, content, framing]) => ({
    method,
    target: at + search,
    headers,
    ...(content && method !== 'HEAD' && { body: content, framing }),
  }));
