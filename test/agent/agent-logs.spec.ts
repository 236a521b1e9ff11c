import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { startTestAgent, type TestAgent } from '../harness/agents.js';
import { CriRuntimeProcess } from '../harness/cri-runtime.js';
import type { HttpClient, Protocol } from '../harness/http-client.js';

const runtime = new CriRuntimeProcess();
const protocols: readonly Protocol[] = ['http/1.1', 'h2'];
const clients = {} as Record<Protocol, HttpClient>;
const startMs = Date.parse('2026-01-02T03:04:05Z');
const logDirectory = join(runtime.directory, 'pods/app');
const liveDirectory = join(runtime.directory, 'pods/live');
const varLog = join(runtime.directory, 'log');
let agent: TestAgent;

beforeAll(async () => {
  mkdirSync(join(varLog, 'sub'), { recursive: true });
  writeFileSync(join(varLog, 'syslog'), 'a line\n');
  writeFileSync(join(varLog, 'empty'), '');
  writeFileSync(join(varLog, 'sub/<b>&"x'), 'odd name\n');
  writeFileSync(join(runtime.directory, 'secret'), 'secret\n');
  symlinkSync(join(runtime.directory, 'secret'), join(varLog, 'outside'));
  symlinkSync('..', join(varLog, 'up'));
  symlinkSync('syslog', join(varLog, 'inside'));
  spawnSync('mkfifo', [join(varLog, 'pipe')]);
  const log = [
    [startMs, 'stdout', 'F', 'one'],
    [startMs + 1_000, 'stderr', 'F', 'two'],
    [startMs + 2_000, 'stdout', 'P', 'thr'],
    [startMs + 2_000, 'stdout', 'F', 'ee'],
    [startMs + 3_000, 'stdout', 'F', ''],
  ] as const;
  const ended = { name: 'app', state: 'exited', logDirectory, log, attempt: 1 } as const;
  await runtime.start({
    pods: [
      {
        ...{ namespace: 'default', name: 'web-1', uid: 'uid-1' },
        containers: [
          ended,
          { ...ended, attempt: 0, startedMs: 1_600_000_000_000, log: [[startMs, 'stdout', 'F', 'before']] },
          { name: 'live', logDirectory: liveDirectory, log: [[startMs, 'stdout', 'F', 'first']] },
          { name: 'silent' },
        ],
      },
    ],
  });
  agent = await startTestAgent([`--container-runtime-endpoint=${runtime.endpoint}`, `--log-dir=${varLog}`]);
  for (const protocol of protocols) clients[protocol] = agent.client({ protocol });
});
afterAll(async () => {
  await agent.stop();
  await runtime.stop();
});

const path = '/containerLogs/default/web-1/app';
const time = (seconds: number) => new Date(startMs + seconds * 1_000).toISOString().replace('Z', '123456Z');

describe.each(protocols)('container logs over %s', (protocol) => {
  it.each([
    ['', 'one\ntwo\nthree\n\n'],
    ['?timestamps=true', `${time(0)} one\n${time(1)} two\n${time(2)} three\n${time(3)} \n`],
    ['?tailLines=1', '\n'],
    ['?tailLines=3', 'three\n\n'],
    ['?tailLines=99', 'one\ntwo\nthree\n\n'],
    ['?tailLines=0', ''],
    ['?tail=all', 'one\ntwo\nthree\n\n'],
    [`?sinceTime=${time(1)}`, 'two\nthree\n\n'],
    ['?sinceTime=2026-01-02T04:04:06%2B01:00', 'two\nthree\n\n'],
    ['?limitBytes=6', 'one\ntw'],
    ['?stream=Stderr', 'two\n'],
    ['?previous=true', 'before\n'],
    ['?follow=true', 'one\ntwo\nthree\n\n'],
  ])(`the log of a container with %s is sent over ${protocol}`, async (query, text) => {
    expect(await clients[protocol].get(path + query)).toMatchObject({ code: 200, text });
  });

  it.each([
    ['/containerLogs/default/web-2/app', 404, 'pod "web-2" does not exist'],
    ['/containerLogs/default/web-1/other', 404, 'container "other" not found in pod "web-1"'],
    [`${path}?tailLines=x`, 400, '{"message": "Unable to decode query."}'],
    [`${path}?sinceTime=yesterday`, 400, '{"message": "Unable to decode query."}'],
    [`${path}?tailLines=-1`, 422, '{"message": "Invalid request."}'],
    [`${path}?limitBytes=0`, 422, '{"message": "Invalid request."}'],
    [`${path}?stream=both`, 422, '{"message": "Invalid request."}'],
    ['/containerLogs/default/web-1/live?previous=1', 400, /previous terminated container "live"/],
    ['/containerLogs/default/web-1/silent', 400, /the runtime keeps no log/],
  ])(`%s over ${protocol} is answered with %d`, async (url, code, text) => {
    const answer = await clients[protocol].get(url);
    expect(answer.code).toBe(code);
    if (typeof text === 'string') expect(answer.text).toBe(text);
    else expect(answer.text).toMatch(text);
  });
});

it('a followed log continues through a rotation and ends with its container', async () => {
  const file = join(liveDirectory, '0.log');
  const answer = await clients.h2.open('GET', '/containerLogs/default/web-1/live?follow=true');
  let text = '';
  answer.body.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const seen = async (wanted: string) => {
    while (!text.includes(wanted)) await new Promise((resolve) => answer.body.once('data', resolve));
  };
  await seen('first\n');
  await runtime.append(file, [[startMs, 'stdout', 'F', 'second']]);
  await seen('second\n');
  renameSync(file, `${file}.1`);
  await runtime.append(file, [[startMs, 'stdout', 'F', 'after the rotation']]);
  await seen('after the rotation\n');
  const containers = [{ name: 'live', state: 'exited' as const, logDirectory: `${liveDirectory}-gone` }];
  await runtime.set({ pods: [{ namespace: 'default', name: 'web-1', uid: 'uid-1', containers }] });
  expect(await answer.ended).toBe('complete');
  expect(text).toBe('first\nsecond\nafter the rotation\n');
});

describe.each(protocols)('files of the machine over %s', (protocol) => {
  it.each([
    ['/logs/syslog', 200, 'a line\n'],
    ['/logs/inside', 200, 'a line\n'],
    ['/logs/empty', 200, ''],
    ['/logs/sub/%3Cb%3E&%22x', 200, 'odd name\n'],
    ['/logs/sub%2f%3Cb%3E&%22x', 200, 'odd name\n'],
    ['/logs/none', 404, '404 page not found\n'],
    ['/logs/outside', 404, '404 page not found\n'],
    ['/logs/up/secret', 404, '404 page not found\n'],
    ['/logs/up', 404, '404 page not found\n'],
    ['/logs/pipe', 404, '404 page not found\n'],
    ['/logs/../secret', 400, 'invalid path'],
    ['/logs/%2e%2e/secret', 400, 'invalid path'],
    ['/logs/..%2fsecret', 400, 'invalid path'],
    ['/logs//etc/passwd', 400, 'invalid path'],
    ['/logs/syslog%00', 400, 'invalid path'],
    ['/logs/sub', 301, ''],
  ])(`%s over ${protocol} is answered with %d`, async (url, code, text) => {
    expect(await clients[protocol].get(url)).toMatchObject({ code, text });
  });

  it(`a directory over ${protocol} is a list of escaped links`, async () => {
    expect((await clients[protocol].get('/logs/')).text).toContain('<a href="./syslog">syslog</a>\n');
    const { text } = await clients[protocol].get('/logs/sub/');
    expect(text).toContain('<a href="./%3Cb%3E%26%22x">&lt;b&gt;&amp;&#34;x</a>\n');
  });

  it(`HEAD of a file over ${protocol} has its length and no body`, async () => {
    const answer = await clients[protocol].head('/logs/syslog');
    expect([answer.code, answer.headers['content-length'], answer.text]).toEqual([200, '7', '']);
  });
});

it.each([
  ['--enable-debugging-handlers=false', ['/logs/', '/containerLogs/default/web-1/app', '/runningpods/', '/exec/a/b/c']],
  ['--enable-system-log-handler=false', ['/logs/']],
])('with %s, paths of logs and streams are answered with 405', async (flag, paths) => {
  const other = await startTestAgent(['--container-runtime-endpoint=none', `--log-dir=${varLog}`, flag]);
  try {
    for (const url of paths) expect((await other.client().get(url)).code).toBe(405);
  } finally {
    await other.stop();
  }
});
