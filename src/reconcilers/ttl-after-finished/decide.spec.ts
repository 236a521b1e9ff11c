import { deletionTimeMs } from './decide.js';

const at = '2026-01-01T00:00:00Z';
const ended = (type: string, more: object = {}) => ({
  conditions: [
    { type: 'Suspended', status: 'True', lastTransitionTime: '2025-01-01T00:00:00Z' },
    { type, status: 'True', lastTransitionTime: at, ...more },
  ],
});

it.each<[string, object, object, object, number | undefined]>([
  ['is complete', { ttlSecondsAfterFinished: 60 }, ended('Complete'), {}, Date.parse(at) + 60_000],
  ['has failed', { ttlSecondsAfterFinished: 0 }, ended('Failed'), {}, Date.parse(at)],
  ['has no time to live', {}, ended('Complete'), {}, undefined],
  ['has not finished', { ttlSecondsAfterFinished: 0 }, {}, {}, undefined],
  ['is to complete', { ttlSecondsAfterFinished: 0 }, ended('SuccessCriteriaMet'), {}, undefined],
  ['is not complete', { ttlSecondsAfterFinished: 0 }, ended('Complete', { status: 'False' }), {}, undefined],
  ['ended at no time', { ttlSecondsAfterFinished: 0 }, ended('Complete', { lastTransitionTime: null }), {}, undefined],
  ['is being deleted', { ttlSecondsAfterFinished: 0 }, ended('Complete'), { deletionTimestamp: at }, undefined],
])('a Job that %s', (_what, spec, status, metadata, want) =>
  expect(
    deletionTimeMs({ kind: 'Job', apiVersion: 'batch/v1', metadata: { name: 'j', ...metadata }, spec, status }),
  ).toBe(want),
);
