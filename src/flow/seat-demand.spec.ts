import { SeatDemand } from './seat-demand.js';

it('the demand of a period has its average, deviation and maximum, and is smoothed', () => {
  const demand = new SeatDemand(0);
  demand.set(4, 5_000);
  demand.summarize(10_000);
  expect([demand.average, demand.deviation, demand.highWatermark, demand.smoothed]).toEqual([2, 2, 4, 4]);
  demand.set(0, 10_000);
  demand.summarize(20_000);
  expect([demand.average, demand.deviation, demand.highWatermark]).toEqual([0, 0, 4]);
  expect(demand.smoothed).toBeCloseTo(0.977 * 4, 6);
  demand.summarize(30_000);
  expect(demand.highWatermark).toBe(0);
});
