import { ManualClock } from '../std/clock.js';
import { RequestSteps, slowPartMs } from './request-steps.js';
import type { Step } from './step.js';

interface Row {
  name: string;
  steps: [Step, number][];
  durationsMs: Partial<Record<Step, number>>;
}

test.each<Row>([
  {
    name: 'a step lasts until the next one begins, the first from the beginning of the request',
    steps: [
      ['authentication', 3],
      ['flowControl', 20],
      ['authorization', 0],
      ['write', 1],
    ],
    durationsMs: { authentication: 3, flowControl: 20, write: 1 },
  },
  {
    name: 'a step that is repeated has the sum of its durations',
    steps: [
      ['authentication', 1],
      ['store', 5],
      ['handling', 1],
      ['store', 7],
    ],
    durationsMs: { authentication: 1, store: 12, handling: 1 },
  },
  {
    name: 'a step that begins after the answer is not counted',
    steps: [
      ['admission', 60],
      ['write', 2],
      ['store', 900],
    ],
    durationsMs: { admission: 60, write: 902 },
  },
])('$name', ({ steps, durationsMs }) => {
  const clock = new ManualClock();
  const request = new RequestSteps(clock);
  for (const [step, ms] of steps) {
    request.begin(step);
    clock.advance(ms);
  }
  request.endSteps(clock.monotonicMs());
  expect(request.durationsMs()).toEqual(durationsMs);
});

it('keeps the first 20 parts that took 50 ms or longer', () => {
  const request = new RequestSteps(new ManualClock());
  request.part('fast', slowPartMs - 1);
  expect(request.slowParts).toBeUndefined();
  for (let i = 0; i < 30; i++) request.part(`part-${i}`, slowPartMs + i);
  expect(request.slowParts).toHaveLength(20);
  expect(request.slowParts?.[1]).toEqual({ name: 'part-1', ms: slowPartMs + 1 });
});
