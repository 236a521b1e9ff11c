import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { auditedWrites, usersOf } from './audited-writes.js';
import type { ObjectRevision } from './object-history.js';

const object = { group: '', resource: 'configmaps', namespace: 'default', name: 'a' };
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
): ObjectRevision => ({
  resourceVersion,
  change,
  time: time && `${second(time)}Z`,
  writers: [{ manager, operation: 'Update', subresource: '' }],
  fields: [],
});

async function usersIn(lines: readonly (object | string)[], revisions: readonly ObjectRevision[]) {
  const directory = await mkdtemp(join(tmpdir(), 'keelson-audited-'));
  const file = join(directory, 'audit.log');
  try {
    await writeFile(file, lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'));
    return usersOf(revisions, await auditedWrites(file, object));
  } finally {
    await rm(directory, { recursive: true });
  }
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
  await expect(auditedWrites('/nowhere/audit.log', object)).rejects.toThrow(
    'the audit log /nowhere/audit.log cannot be read: there is no such file',
  );
});
