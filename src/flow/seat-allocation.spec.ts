import { allocateSeats } from './seat-allocation.js';

const demand = (target: number, lowerBound: number, upperBound: number) => ({ target, lowerBound, upperBound });

// Results of kube-apiserver for the same demands.
it.each<[number, ReturnType<typeof demand>[], number[], number]>([
  [1, [demand(1, 1, 2)], [1], 1],
  [100, [demand(10, 5, 50), demand(40, 10, 60), demand(5, 0, 100)], [26.6667, 60, 13.3333], 2.66667],
  [600, [demand(0, 0, 600), demand(200, 100, 300), demand(50, 50, 60), demand(0, 0, 30)], [210, 300, 60, 30], 210_000],
  [15, [demand(10, 5, 20), demand(40, 10, 60)], [5, 10], 0.25],
])('%d seats are divided by demand within bounds: case %#', (total, demands, seats, fraction) => {
  const allocation = allocateSeats(total, demands)!;
  expect(allocation.fairFraction).toBeCloseTo(fraction, 3);
  expect(allocation.seats).toHaveLength(seats.length);
  for (const [at, expected] of seats.entries()) expect(allocation.seats[at]).toBeCloseTo(expected, 3);
});

it.each<[string, number, ReturnType<typeof demand>[]]>([
  ['upper bounds below the total', 100, [demand(10, 5, 20), demand(40, 10, 60)]],
  ['lower bounds above the total', 14, [demand(10, 5, 20), demand(40, 10, 60)]],
  ['a negative lower bound', 14, [demand(10, -1, 20)]],
  ['an upper bound below the lower bound', 14, [demand(10, 15, 12)]],
])('%s have no allocation', (_what, total, demands) => expect(allocateSeats(total, demands)).toBeUndefined());

it('no seats are no seats for every level', () =>
  expect(allocateSeats(0, [demand(0, 0, 5), demand(3, 0, 5)])).toEqual({ seats: [0, 0], fairFraction: 0 }));
