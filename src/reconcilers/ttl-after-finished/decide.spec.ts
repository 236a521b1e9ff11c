import { deletionTimeMs } from './decide.js';

const at = '2026-01-01T00:00:00Z';
const ended = (type: string, more: object = {}) => ({
  conditions: [
    { type: 'Suspended', status: 'True', lastTransitionTime: '2025-01-01T00:00:00Z' },
    { type, status: 'True', lastTransitionTime: at, ...more },
  ],
});

it.each<[string, object, object, object, number | undefined]>([
  [
    'is Complete: after its time to live',
    { ttlSecondsAfterFinished: 60 },
    ended('Complete'),
    {},
    Date.parse(at) + 60_000,
  ],
  ['is Failed: after its time to live', { ttlSecondsAfterFinished: 0 }, ended('Failed'), {}, Date.parse(at)],
  ['has no time to live: never', {}, ended('Complete'), {}, undefined],
  ['has not finished: never', { ttlSecondsAfterFinished: 0 }, {}, {}, undefined],
  [
    'met its success criteria and has not finished: never',
    { ttlSecondsAfterFinished: 0 },
    ended('SuccessCriteriaMet'),
    {},
    undefined,
  ],
  [
    'has the condition Complete with status False: never',
    { ttlSecondsAfterFinished: 0 },
    ended('Complete', { status: 'False' }),
    {},
    undefined,
  ],
  [
    'has no lastTransitionTime: never',
    { ttlSecondsAfterFinished: 0 },
    ended('Complete', { lastTransitionTime: null }),
    {},
    undefined,
  ],
  ['is being deleted: never', { ttlSecondsAfterFinished: 0 }, ended('Complete'), { deletionTimestamp: at }, undefined],
])('deletion of a Job that %s', (_what, spec, status, metadata, want) =>
  expect(
    deletionTimeMs({ kind: 'Job', apiVersion: 'batch/v1', metadata: { name: 'j', ...metadata }, spec, status }),
  ).toBe(want),
);
