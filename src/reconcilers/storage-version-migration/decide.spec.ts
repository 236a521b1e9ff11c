import type { Condition } from '../../catalog/types/meta.v1.js';
import type { StorageVersionMigrationStatus } from '../../catalog/types/storagemigration.v1beta1.js';
import { validateConditions } from '../../machinery/condition-validation.js';
import { path } from '../../machinery/field-error.js';
import {
  atRevision,
  ended,
  failed,
  migrationOf,
  nextStep,
  resourceOf,
  started,
  succeeded,
  unhandled,
} from './decide.js';

const now = '2026-01-02T03:04:05Z';

function migration(name: string, created: string, status: StorageVersionMigrationStatus = {}, group = 'a.example.com') {
  const metadata = { name, uid: name, creationTimestamp: created };
  const spec = { resource: { group, resource: 'widgets' } };
  return migrationOf({ kind: 'StorageVersionMigration', apiVersion: 'v1beta1', metadata, spec, status });
}

const running = started({}, now);
const done = succeeded(atRevision(running, '7'), now);
const [early, late] = ['2026-01-01T00:00:00Z', '2026-01-01T00:00:01Z'];

describe('the next step of the migrations of a resource', () => {
  it.each<[string, [name: string, created: string, StorageVersionMigrationStatus?][], string | undefined]>([
    ['no migrations', [], undefined],
    ['a finished one', [['a', early, ended(done, now)]], undefined],
    ['one that failed before it ran', [['a', early, failed({}, 'no', now)]], undefined],
    ['a new one', [['a', early]], 'start a'],
    [
      'the oldest first',
      [
        ['a', late],
        ['b', early],
      ],
      'start b',
    ],
    [
      'one of the same second by its name',
      [
        ['b', early],
        ['a', early],
      ],
      'start a',
    ],
    [
      'a running one, before older ones that wait',
      [
        ['a', early],
        ['b', late, running],
      ],
      'migrate b',
    ],
    [
      'the oldest of several that run',
      [
        ['a', late, running],
        ['b', early, running],
      ],
      'migrate b',
    ],
    [
      'one that has ended, before all others',
      [
        ['a', early, running],
        ['b', late, done],
      ],
      'end b',
    ],
    [
      'one after a finished one',
      [
        ['a', early, ended(done, now)],
        ['b', late],
      ],
      'start b',
    ],
  ])('%s', (_, migrations, expected) => {
    const step = nextStep(migrations.map(([name, created, status]) => migration(name, created, status)));
    expect(step && `${step.type} ${step.migration.name}`).toBe(expected);
  });

  it('does not depend on the order of the migrations', () => {
    const all = [migration('a', late), migration('b', early), migration('c', early), migration('d', late)];
    const firsts = all.map((_, at) => nextStep([...all.slice(at), ...all.slice(0, at)])?.migration.name);
    expect(firsts).toEqual(['b', 'b', 'b', 'b']);
  });
});

it('resources are named as their CustomResourceDefinitions', () => {
  expect([resourceOf(migration('a', early)), resourceOf(migration('a', early, {}, ''))]).toEqual([
    'widgets.a.example.com',
    'widgets',
  ]);
});

describe('the status', () => {
  const shown = ({ conditions = [], resourceVersion = '' }: StorageVersionMigrationStatus) => [
    ...conditions.map(({ type, status, reason, message }) => `${type}=${status} ${reason}: ${message}`),
    resourceVersion,
  ];

  it('has the conditions of a migration that succeeds', () => {
    expect(shown(ended(done, now))).toEqual([
      'Running=False MigrationCompleted: Migration completed',
      'Succeeded=True StorageVersionMigrationSucceeded: ',
      '7',
    ]);
  });

  it('has the conditions of a migration that fails', () => {
    expect(shown(ended(failed(running, unhandled('no'), now), now))).toEqual([
      'Running=False MigrationCompleted: Migration completed',
      'Failed=True StorageVersionMigrationFailed: migration encountered unhandled error: no',
      '',
    ]);
  });

  it.each<[string, (status: StorageVersionMigrationStatus) => StorageVersionMigrationStatus]>([
    ['started', (status) => started(status, now)],
    ['atRevision', (status) => atRevision(status, '9')],
    ['succeeded', (status) => succeeded(status, now)],
    ['failed', (status) => failed(status, 'no', now)],
  ])('does not change after the end: %s', (_, change) => {
    const failure = failed(running, 'first', now);
    expect([change(done), change(failure)]).toEqual([done, failure]);
  });

  it('keeps its first resourceVersion', () => {
    expect(atRevision(atRevision({}, '7'), '9').resourceVersion).toBe('7');
  });

  it('replaces conditions that are not True, and keeps those of others', () => {
    const condition = (type: string): Condition => ({ ...running.conditions![0], type, status: 'False' });
    const before = { conditions: [condition('Running'), condition('Other')] };
    expect(shown(started(before, now)).map((line) => line.split(' ')[0])).toEqual(['Running=True', 'Other=False', '']);
  });

  it.each(['a', '\u{1f600}', '\ufffd'])('of a failure with a message of a megabyte of %s is valid', (letter) => {
    const { conditions } = failed({}, letter.repeat(1_000_000), now);
    expect(validateConditions(conditions, path('status'))).toEqual([]);
  });
});
