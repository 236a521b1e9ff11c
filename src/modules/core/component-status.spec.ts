import { componentStatuses, componentStatusTable } from './component-status.js';

it('componentStatuses returns a healthy and an unhealthy component', async () => {
  const statuses = await componentStatuses([
    { name: 'etcd-0', check: async () => undefined },
    { name: 'etcd-1', check: () => Promise.reject(new Error('no answer')) },
  ]);
  expect(statuses.map(({ metadata, conditions }) => [metadata.name, conditions])).toEqual([
    ['etcd-0', [{ type: 'Healthy', status: 'True', message: 'ok' }]],
    ['etcd-1', [{ type: 'Healthy', status: 'False', error: 'no answer' }]],
  ]);
  expect(statuses.map((status) => componentStatusTable.cells(status, { nowMs: 0 }))).toEqual([
    ['etcd-0', 'Healthy', 'ok', ''],
    ['etcd-1', 'Unhealthy', '', 'no answer'],
  ]);
});
