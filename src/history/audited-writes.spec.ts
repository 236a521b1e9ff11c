import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { cpuMsOf } from '../../test/harness/cpu-time.js';
import { auditedWrites } from './audited-writes.js';
import type { ObjectRevision } from './object-history.js';
import { revisionWrites } from './revision-writes.js';

const object = { group: '', resource: 'configmaps', namespace: 'default', name: 'a', cluster: '' };
const second = (text: string) => `2026-01-01T00:00:0${text}`;

const event = (user: string, verb: string, time: string, more: object = {}) => ({
  kind: 'Event',
  stage: 'ResponseComplete',
  verb,
  requestURI: '/api/v1/namespaces/default/configmaps/a',
  user: { username: user },
  userAgent: `${user}-program/1.0`,
  objectRef: { resource: 'configmaps', namespace: 'default', name: 'a' },
  responseStatus: { code: 200 },
  requestReceivedTimestamp: `${second(time)}Z`,
  stageTimestamp: `${second(time)}Z`,
  ...more,
});

const revision = (
  change: ObjectRevision['change'],
  resourceVersion: string,
  time: string,
  manager = '',
  paths: readonly string[] = [],
): ObjectRevision => ({
  resourceVersion,
  change,
  time: time && `${second(time)}Z`,
  writers: [{ manager, operation: 'Update', subresource: '' }],
  fields: paths.map((path) => ({ path, before: undefined, after: 1 })),
});

const textOf = (lines: readonly (object | string)[]) =>
  lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n');

/** Reads the writes of the object from a directory with these files, since a second. */
async function writesIn(files: Readonly<Record<string, string | Buffer>>, from = '0', target = object) {
  const directory = await mkdtemp(join(tmpdir(), 'keelson-audited-'));
  const told: string[] = [];
  const reading = { sinceMs: Date.parse(`${second(from)}Z`), tell: (line: string) => told.push(line) };
  try {
    for (const [name, content] of Object.entries(files)) await writeFile(join(directory, name), content);
    return { writes: await auditedWrites(join(directory, 'audit.log'), target, reading), told };
  } finally {
    await rm(directory, { recursive: true });
  }
}

async function usersIn(lines: readonly (object | string)[], revisions: readonly ObjectRevision[]) {
  const { writes } = await writesIn({ 'audit.log': textOf(lines) });
  return revisionWrites(revisions, writes).map((write) => write?.user ?? '');
}

it('revisions get the users of writes in their second, of their manager if there are several', async () => {
  const users = await usersIn(
    [
      event('ann', 'create', '1.200000'),
      event('bob', 'patch', '2.100000'),
      event('eve', 'patch', '2.300000'),
      event('dan', 'delete', '5.000000'),
    ],
    [
      revision('created', '7', '1'),
      revision('changed', '8', '2', 'eve-program'),
      revision('changed', '9', '2', 'x'),
      revision('deleted', '10', ''),
    ],
  );
  expect(users).toEqual(['ann', 'eve', 'bob', 'dan']);
});

it('a write that was recorded with its answer belongs to the resourceVersion of the answer', async () => {
  const answer = (resourceVersion: string) => ({ responseObject: { metadata: { resourceVersion } } });
  const lines = [event('ann', 'patch', '2.1', answer('9')), event('bob', 'patch', '2.2', answer('8'))];
  expect(await usersIn(lines, [revision('changed', '8', '2'), revision('changed', '9', '2')])).toEqual(['bob', 'ann']);
});

it('an impersonated user is named after the user of the request', async () => {
  const lines = [event('ann', 'patch', '2.1', { impersonatedUser: { username: 'bob' } })];
  expect(await usersIn(lines, [revision('changed', '8', '2')])).toEqual(['ann as bob']);
});

it('failed requests, dry runs, reads, other objects, other stages and broken lines give no users', async () => {
  const lines = [
    event('a', 'patch', '2.1', { responseStatus: { code: 409 } }),
    event('b', 'patch', '2.1', { requestURI: '/api/v1/namespaces/default/configmaps/a?dryRun=All' }),
    event('c', 'get', '2.1'),
    event('d', 'patch', '2.1', { objectRef: { resource: 'configmaps', namespace: 'other', name: 'a' } }),
    event('e', 'patch', '2.1', { stage: 'RequestReceived' }),
    '{"name":"a"',
    '"a"',
    `${'['.repeat(5_000)}"a"`,
    `{"name":"a","x":"${'y'.repeat(17 * 1024 * 1024)}"}`,
  ];
  expect(await usersIn(lines, [revision('changed', '8', '2')])).toEqual(['']);
});

it('a log that does not exist is an error that names the file', async () => {
  const reading = { sinceMs: 0, tell: () => undefined };
  await expect(auditedWrites('/nowhere/audit.log', object, reading)).rejects.toThrow(
    'the audit log /nowhere/audit.log cannot be read: there is no such file',
  );
});

const rotated = (time: string, suffix = '') => `audit-2026-01-01T00-00-0${time}.log${suffix}`;

it('rotated files are read too, compressed ones and the oldest first, but none from before the history', async () => {
  const write = (user: string, time: string) => `${JSON.stringify(event(user, 'patch', time))}\n`;
  const { writes, told } = await writesIn(
    {
      'audit.log': write('dan', '5.0'),
      [rotated('4.500')]: write('cid', '4.0'),
      [rotated('3.500', '.gz')]: gzipSync(write('early', '1.0') + write('bob', '3.0')),
      [rotated('1.500', '.gz')]: 'no gzip',
      'audit-other.log': write('eve', '4.0'),
      'other.log': write('eve', '4.0'),
    },
    '2',
  );
  expect(writes.map(({ user }) => user)).toEqual(['bob', 'cid', 'dan']);
  expect(told).toEqual([]);
});

it('of a file whose compression was interrupted the plain one is read; a damaged one is named, and its begin is used', async () => {
  const write = (user: string, time: string) => `${JSON.stringify(event(user, 'patch', time))}\n`;
  const whole = gzipSync(Array.from({ length: 2_000 }, (_, index) => write(`user-${index}`, '4.0')).join(''));
  const { writes, told } = await writesIn({
    'audit.log': write('dan', '5.0'),
    [rotated('4.500', '.gz')]: whole.subarray(0, whole.length / 2),
    [rotated('3.500')]: write('bob', '3.0'),
    [rotated('3.500', '.gz')]: 'begun',
  });
  const users = writes.map(({ user }) => user);
  expect([users[0], users[1], users.at(-1)]).toEqual(['bob', 'user-0', 'dan']);
  expect(users.length).toBeLessThan(2_000);
  expect(told).toEqual([expect.stringMatching(/audit-2026-01-01T00-00-04\.500\.log\.gz cannot be read to its end: /)]);
});

it('a write has its verb, time and audit ID', async () => {
  const { writes } = await writesIn({ 'audit.log': textOf([event('ann', 'patch', '2.1', { auditID: 'id-1' })]) });
  expect(writes).toMatchObject([{ verb: 'patch', time: `${second('2.1')}Z`, auditID: 'id-1' }]);
});

it('a write of a logical cluster is not one of the root, nor of another cluster', async () => {
  const of = (user: string, prefix: string) =>
    event(user, 'patch', '2.1', { requestURI: `${prefix}/api/v1/namespaces/default/configmaps/a` });
  const files = { 'audit.log': textOf([of('ann', ''), of('bob', '/clusters/a'), of('cid', '/clusters/b')]) };
  expect((await writesIn(files)).writes.map(({ user }) => user)).toEqual(['ann']);
  const inCluster = await writesIn(files, '0', { ...object, cluster: 'a' });
  expect(inCluster.writes.map(({ user }) => user)).toEqual(['bob']);
});

it('an apply may create, and a name may be one that the server has chosen or that JSON escapes', async () => {
  const created = { responseStatus: { code: 201 } };
  expect(await usersIn([event('ann', 'patch', '1.1', created)], [revision('created', '7', '1')])).toEqual(['ann']);
  const chosen = {
    objectRef: { resource: 'configmaps', namespace: 'default' },
    responseObject: { metadata: { name: 'a', resourceVersion: '7' } },
  };
  expect(await usersIn([event('ann', 'create', '1.1', chosen)], [revision('created', '7', '1')])).toEqual(['ann']);
  const role = { group: 'g', resource: 'roles', namespace: 'default', name: 'a"<b', cluster: '' };
  const escaped = JSON.stringify(event('ann', 'patch', '2.1', { objectRef: { apiGroup: 'g', ...role } })).replace(
    '<',
    '\\u003c',
  );
  expect((await writesIn({ 'audit.log': escaped }, '0', role)).writes).toHaveLength(1);
});

it('a deletion that finalizers delay is that of the deleting user; the end is that of who removed the last one', async () => {
  const lines = [event('dan', 'delete', '3.1'), event('fin', 'patch', '4.1')];
  const revisions = [
    revision('created', '6', '1'),
    revision('changed', '7', '', '', ['metadata.deletionTimestamp']),
    revision('deleted', '8', ''),
  ];
  expect(await usersIn(lines, revisions)).toEqual(['', 'dan', 'fin']);
});

it('a write that changed nothing does not take the revision of the one before', async () => {
  const answer = { responseObject: { metadata: { resourceVersion: '8' } } };
  const lines = [event('ann', 'patch', '2.1', answer), event('bob', 'update', '2.5', answer)];
  expect(await usersIn(lines, [revision('changed', '8', '2')])).toEqual(['ann']);
});

it('20,000 revisions without times and as many writes take less than a second of CPU time', async () => {
  const writes = Array.from({ length: 20_000 }, (_, index) => event(`u${index}`, 'patch', '2.1'));
  const read = (await writesIn({ 'audit.log': textOf(writes) })).writes;
  const revisions = read.map((_, index) => revision('changed', `${index + 10}`, ''));
  expect(cpuMsOf(() => void revisionWrites(revisions, read), 1_000)).toBeLessThan(1_000);
});
