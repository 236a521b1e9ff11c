import { evictionHardDefault, parseEvictionThresholds, type EvictionThresholds } from './eviction-thresholds.js';
import type { HostAmounts } from './host-amounts.js';
import { nodeCapacity } from './node-capacity.js';
import { PressureObserver } from './pressure.js';

const gi = 1024n ** 3n;
const thresholds = (text: string) => parseEvictionThresholds(text) as EvictionThresholds;
const amounts: Required<HostAmounts> = {
  memory: { capacity: 8n * gi, available: 4n * gi },
  storage: { capacity: 100n * gi, available: 50n * gi },
  inodes: { capacity: 1000n, available: 500n },
  processes: { capacity: 1000n, available: 500n },
};
const none = { capacity: 1000n, available: 0n };

it.each<[string, Partial<HostAmounts>, string[]]>([
  ['nothing', {}, []],
  ['memory', { memory: { capacity: 8n * gi, available: 99n * 1024n ** 2n } }, ['memory']],
  ['storage', { storage: { capacity: 100n * gi, available: 9n * gi } }, ['disk']],
  ['inodes', { inodes: none }, ['disk']],
  ['processes', { processes: none }, ['pid']],
])('a shortage of %s is the pressure with its name', (_what, changed, wanted) => {
  const observer = new PressureObserver(thresholds(evictionHardDefault), 1000);
  expect([...observer.observe({ ...amounts, ...changed }, 0)]).toEqual(wanted);
});

it('a pressure remains for the transition period after its end', () => {
  const observer = new PressureObserver(thresholds('memory.available<5Gi'), 1000);
  const enough = { memory: { capacity: 8n * gi, available: 6n * gi } };
  expect(observer.observe(amounts, 0).size).toBe(1);
  expect(observer.observe(enough, 999).size).toBe(1);
  expect(observer.observe(enough, 1000).size).toBe(0);
});

it('amounts that cannot be measured are no pressure', () => {
  expect(new PressureObserver(thresholds(evictionHardDefault), 1000).observe({}, 0).size).toBe(0);
});

it.each([
  ['memory.available', /must be signal<quantity/],
  ['__proto__<1', /must be signal<quantity/],
  ['memory.available<1Gi,memory.available<2Gi', 'memory.available is set twice'],
  ['memory.available<101%', /must be a quantity or a percentage/],
  ['memory.available<-1', /must be a quantity or a percentage/],
  ['memory.available<1e', /must be a quantity or a percentage/],
])('the eviction threshold %s is refused', (text, message) => {
  expect(parseEvictionThresholds(text)).toEqual(typeof message === 'string' ? message : expect.stringMatching(message));
});

it('a signal of the kubelet that is not measured has no threshold', () => {
  expect(thresholds('imagefs.available<15%,').size).toBe(0);
});

it('allocatable is the capacity without reserved amounts and eviction thresholds', () => {
  const settings = {
    podsMax: 110,
    reserved: [
      { cpu: '200m', memory: '1Gi' },
      { cpu: '1', 'ephemeral-storage': '10Gi' },
    ],
    evictionHard: thresholds('memory.available<1Gi,nodefs.available<10%'),
  };
  expect(nodeCapacity(settings, 4, amounts)).toEqual({
    capacity: { cpu: '4', 'ephemeral-storage': '100Gi', memory: '8Gi', pods: '110' },
    allocatable: { cpu: '2800m', 'ephemeral-storage': '80Gi', memory: '6Gi', pods: '110' },
  });
});

it('allocatable amounts are not negative', () => {
  const settings = { podsMax: 1, reserved: [{ cpu: '8' }], evictionHard: thresholds('') };
  expect(nodeCapacity(settings, 4, amounts).allocatable).toMatchObject({ cpu: '0' });
});
