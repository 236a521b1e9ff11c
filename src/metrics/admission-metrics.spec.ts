import { AdmissionChain } from '../admission/admission-chain.js';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission/admission-plugin.js';
import { ManualClock } from '../std/clock.js';
import { AdmissionMetrics } from './admission-metrics.js';

const clock = new ManualClock();
const taking = (ms: number) => () => clock.advance(ms);
const plugins: AdmissionPlugin[] = [
  { name: 'Shapes', admit: taking(10), validate: taking(1) },
  {
    name: 'Refuses',
    validate: ({ operation }) => {
      clock.advance(200);
      if (operation === 'DELETE') throw new Error('no');
    },
  },
  { name: 'Pods', resources: [{ group: '', resource: 'pods' }], admit: taking(5) },
];

it('measures the duration of each plug-in that is called, and of each admission step', async () => {
  const metrics = new AdmissionMetrics(clock);
  const chain = new AdmissionChain(plugins, metrics);
  const resource = { group: '', resource: 'configmaps' };
  const write = (operation: string) => ({ operation, resource, request: {} }) as AdmissionAttributes;
  await chain.admit(write('CREATE'));
  await chain.validate(write('CREATE'));
  await expect(chain.validate(write('DELETE'))).rejects.toThrow('no');
  const sums = metrics.families().map((family) =>
    [...family.samples()]
      .filter(({ suffix }) => suffix === '_sum')
      .map(({ labels, value }) => {
        const { name = 'all', type, operation, rejected } = labels;
        return `${name} ${type} ${operation} ${rejected} ${value}`;
      }),
  );
  expect(sums).toEqual([
    [
      'Shapes admit CREATE false 0.01',
      'Shapes validate CREATE false 0.001',
      'Shapes validate DELETE false 0.001',
      'Refuses validate CREATE false 0.2',
      'Refuses validate DELETE true 0.2',
      'Pods admit CREATE false 0',
    ],
    ['all admit CREATE false 0.01', 'all validate CREATE false 0.201', 'all validate DELETE true 0.201'],
  ]);
});
