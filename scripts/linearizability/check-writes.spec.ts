import { violationsOf } from './check-writes.js';
import type { Change, Outcome, Run, WriteCall } from './record.js';
import type { Intent, Version } from './write-model.js';

const version = (revision: number, mark: string, more: Partial<Version> = {}): Version => ({
  revision,
  uid: 'u1',
  data: { mark },
  finalizers: [],
  isDeleting: false,
  ...more,
});
const change = (before: Version | undefined, after: Version | undefined, revision = after!.revision): Change => ({
  key: 'k',
  revision,
  before,
  after,
});
const call = (
  mark: string,
  [began, ended]: readonly [number, number],
  intent: Intent['verb'],
  outcome: Outcome,
  more: Partial<WriteCall> = {},
): WriteCall => ({ mark, key: 'k', began, ended, intent: intentOf(intent, mark), expects: {}, outcome, ...more });
const intentOf = (verb: Intent['verb'], mark: string): Intent => {
  if (verb === 'delete') return { verb };
  if (verb === 'merge') return { verb, data: { mark }, releases: false };
  return verb === 'apply' ? { verb, data: { mark } } : { verb, data: { mark }, finalizers: [] };
};
const object = (of: Version): Outcome => ({ type: 'object', version: of });
const refused = (reason: string): Outcome => ({ type: 'refused', reason });
const unknown: Outcome = { type: 'unknown', why: 'cut' };

const [first, second] = [version(10, 'a'), version(20, 'b')];
const third = version(30, 'c');
const log = [change(undefined, first), change(first, second), change(second, third)];
const writes = [
  call('a', [1, 2], 'create', object(first)),
  call('b', [3, 4], 'merge', object(second), { expects: { revision: 10 } }),
  call('c', [5, 6], 'replace', object(third)),
];
const good: Run = {
  log,
  writes,
  reads: [{ key: 'k', began: 7, ended: 8, version: third }],
  watches: [
    {
      after: 5,
      until: 30,
      events: [
        { type: 'ADDED', key: 'k', version: first },
        { type: 'MODIFIED', key: 'k', version: second },
        { type: 'MODIFIED', key: 'k', version: third },
      ],
    },
  ],
  final: { revision: 35, versions: new Map([['k', third]]) },
};
const bare = { reads: [], watches: [] };
const ended = { revision: 99, versions: new Map<string, Version>() };
const at = (index: number, more: Partial<WriteCall>) =>
  writes.map((one, i) => (i === index ? { ...one, ...more } : one));

const held = version(10, 'a', { finalizers: ['f'] });
const marked = version(20, 'a', { finalizers: ['f'], isDeleting: true });
const createHeld = call('a', [1, 2], 'create', object(held), {
  intent: { verb: 'create', data: { mark: 'a' }, finalizers: ['f'] },
});
const release = (span: readonly [number, number], outcome: Outcome) =>
  call('r', span, 'merge', outcome, { intent: { verb: 'merge', data: { mark: 'r' }, releases: true } });
const released: Run = {
  ...bare,
  log: [change(undefined, held), change(held, marked), change(marked, undefined, 30)],
  writes: [
    createHeld,
    call('d', [3, 4], 'delete', object(marked)),
    call('d2', [5, 6], 'delete', object(marked)),
    release([7, 8], object(version(20, 'r', { isDeleting: true }))),
  ],
  final: ended,
};
const removed: Run = {
  ...bare,
  log: [change(undefined, first), change(first, undefined, 20)],
  writes: [call('a', [1, 2], 'create', object(first)), call('d', [3, 4], 'delete', { type: 'deleted', uid: 'u1' })],
  final: ended,
};

describe('linearizable runs', () => {
  it.each<[string, Run]>([
    ['writes one after another', good],
    ['concurrent writes, in either order', { ...good, reads: [], writes: at(1, { ended: 6 }).concat() }],
    ['a write without an answer that took effect', { ...good, writes: at(1, { outcome: unknown }) }],
    [
      'a write without an answer that had no effect',
      { ...good, writes: [...writes, call('x', [1, 2], 'merge', unknown)] },
    ],
    [
      'a write that took effect after its client gave up',
      { ...good, writes: at(2, { outcome: unknown, began: 3, ended: 3.5 }) },
    ],
    ['a deletion', removed],
    [
      'a deletion without an answer',
      { ...removed, writes: [removed.writes[0]!, call('d', [3, 4], 'delete', unknown)] },
    ],
    ['a deletion with a finalizer, requested twice', released],
    [
      'a deletion with a finalizer, without answers',
      { ...released, writes: [createHeld, call('d', [3, 4], 'delete', unknown), release([5, 6], unknown)] },
    ],
    [
      'a conflict with a concurrent write',
      {
        ...good,
        writes: [...writes, call('x', [2.5, 3.5], 'create', refused('AlreadyExists'))],
      },
    ],
    [
      'a NotFound before a concurrent create',
      { ...good, writes: [...writes, call('x', [1, 2], 'merge', refused('NotFound'))] },
    ],
    [
      'a conflict with another version',
      { ...good, writes: [...writes, call('x', [3, 4], 'merge', refused('Conflict'), { expects: { revision: 20 } })] },
    ],
  ])('%s', (_name, run) => expect(violationsOf(run)).toEqual([]));
});

describe('runs that are not linearizable', () => {
  it.each<[string, Run, RegExp]>([
    [
      'an acknowledged write without effect',
      { ...good, writes: [...writes, call('x', [7, 8], 'merge', object(version(40, 'x')))] },
      /merge k \(x\) was acknowledged with revision 40, which is not in the store's log/,
    ],
    [
      'a refused write with an effect',
      { ...good, writes: at(1, { outcome: refused('Conflict') }) },
      /\(b\) wrote revision 20, but was refused \(Conflict\)/,
    ],
    [
      'a write that never reached the server',
      { ...good, writes: at(1, { outcome: { type: 'unreached' } }) },
      /\(b\) wrote revision 20, but unreached/,
    ],
    [
      'a write that took effect twice',
      {
        ...good,
        log: [...log, change(third, version(40, 'b'))],
        watches: [],
        final: { revision: 50, versions: new Map([['k', version(40, 'b')]]) },
      },
      /\(b\) was acknowledged|\(b\) wrote revision 40/,
    ],
    [
      'a write without an answer that took effect twice',
      {
        ...good,
        log: [...log, change(third, version(40, 'b'))],
        writes: at(1, { outcome: unknown, expects: {} }),
        watches: [],
        reads: [],
        final: { revision: 50, versions: new Map([['k', version(40, 'b')]]) },
      },
      /\(b\) took effect again at revision 40/,
    ],
    ['a change without a writer', { ...good, writes: writes.slice(0, 2) }, /k@30: written by no client/],
    [
      'a write over another version than its precondition',
      { ...good, writes: at(2, { expects: { revision: 10 } }) },
      /\(c\) has the precondition \{"revision":10\}/,
    ],
    [
      'a lost update',
      { ...good, log: [log[0]!, log[1]!, change(second, version(30, 'c', { data: { mark: 'c', old: '1' } }))] },
      /\(c\) wrote /,
    ],
    [
      'a write ordered before one that was answered earlier',
      { ...good, writes: at(2, { began: 2.1, ended: 2.2 }), reads: [] },
      /\(c\) has revision 30, but revision 20 began after it ended/,
    ],
    [
      'two creations',
      { ...good, writes: at(1, { intent: intentOf('create', 'b'), expects: {} }) },
      /\(b\) should have been refused, but wrote revision 20/,
    ],
    [
      'a stale read',
      { ...good, reads: [{ key: 'k', began: 7, ended: 8, version: second }] },
      /k between 30 and Infinity was answered with .*"revision":20/,
    ],
    [
      'a read of an absent object',
      { ...good, reads: [{ key: 'k', began: 7, ended: 8, version: undefined }] },
      /was answered with absent/,
    ],
    [
      'a refusal without a reason',
      { ...good, writes: [...writes, call('x', [7, 8], 'merge', refused('NotFound'))] },
      /\(x\) was refused with NotFound between 30/,
    ],
    [
      'an undefined refusal',
      { ...good, writes: [...writes, call('x', [7, 8], 'merge', refused('InternalError'))] },
      /InternalError/,
    ],
    [
      'a deletion that nobody requested',
      { ...removed, writes: removed.writes.slice(0, 1) },
      /k@20: no client requested this deletion/,
    ],
    [
      'two acknowledged deletions of one object',
      { ...removed, writes: [...removed.writes, call('e', [3, 4], 'delete', { type: 'deleted', uid: 'u1' })] },
      /were both acknowledged with revision 20/,
    ],
    [
      'an acknowledged deletion without effect',
      { ...removed, writes: [...removed.writes, call('e', [3, 4], 'delete', { type: 'deleted', uid: 'u2' })] },
      /the object with uid u2 was not deleted/,
    ],
    [
      'a deletion despite a finalizer',
      {
        ...released,
        log: [released.log[0]!, change(held, undefined, 20)],
        writes: [createHeld, call('d', [3, 4], 'delete', { type: 'deleted', uid: 'u1' })],
      },
      /delete k \(d\) wrote absent/,
    ],
    [
      'a deletionTimestamp that nobody requested',
      { ...released, writes: [createHeld, released.writes[3]!] },
      /k@20: no client requested this deletionTimestamp/,
    ],
    [
      'a finalizer that came back',
      {
        ...released,
        log: [
          released.log[0]!,
          released.log[1]!,
          change(marked, version(30, 'r', { isDeleting: true, finalizers: ['g'] })),
        ],
        writes: [...released.writes.slice(0, 3), release([7, 8], unknown)],
      },
      /\(r\) wrote /,
    ],
    [
      'a uid that was used twice',
      {
        ...removed,
        log: [...removed.log, change(undefined, version(30, 'b'))],
        writes: [...removed.writes, call('b', [5, 6], 'create', object(version(30, 'b')))],
        final: { revision: 40, versions: new Map([['k', version(30, 'b')]]) },
      },
      /uid u1 was used twice/,
    ],
    [
      'a watch with a gap',
      { ...good, watches: [{ ...good.watches[0]!, events: good.watches[0]!.events.slice(1) }] },
      /a watch sent .* instead of ADDED k@10/,
    ],
    [
      'a watch with a duplicate',
      {
        ...good,
        watches: [{ ...good.watches[0]!, events: [...good.watches[0]!.events, good.watches[0]!.events[2]!] }],
      },
      /a watch sent an extra event/,
    ],
    [
      'a final state that differs from the last change',
      { ...good, final: { revision: 35, versions: new Map([['k', second]]) } },
      /at the end k is answered with/,
    ],
    [
      'a phantom object',
      { ...removed, final: { revision: 99, versions: new Map([['k', first]]) } },
      /at the end k is answered with .*, but the store has absent/,
    ],
  ])('detects %s', (_name, run, message) => expect(violationsOf(run).join('\n')).toMatch(message));
});
