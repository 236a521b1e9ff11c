import { parseRequestInfo } from '../machinery/request-info.js';
import { WatchCounts } from './watch-counts.js';
import { WorkEstimator, type ObjectStats } from './work-estimate.js';

const pods = '/api/v1/pods';
const stored: ObjectStats = { count: 5_000, averageBytes: 2_000 };
const selected = 'labelSelector=a%3Db';

function seatsOf(
  method: string,
  url: string,
  options: { stats?: ObjectStats; sizeBased?: boolean; most?: number } = {},
) {
  const { stats = stored, sizeBased = true, most = 0 } = options;
  const estimator = new WorkEstimator({
    statsOf: ({ resource }) => (resource === 'pods' ? stats : undefined),
    concernedWatches: () => 0,
    watchListEnabled: true,
    sizeBased,
  });
  return estimator.estimate(parseRequestInfo(method, url), most, () => undefined).initialSeats;
}

it.each<[string, number]>([
  [`${pods}`, 10],
  [`${pods}?resourceVersion=0`, 10],
  [`${pods}?limit=100`, 2],
  [`${pods}?limit=100&${selected}`, 2],
  [`${pods}?limit=500&resourceVersion=7&resourceVersionMatch=Exact`, 10],
  [`${pods}?resourceVersion=7&resourceVersionMatch=Exact`, 100],
  [`${pods}?limit=100&continue=x&${selected}`, 50],
  [`${pods}?fieldSelector=metadata.name%3Dx`, 1],
  [`${pods}?watch=1`, 10],
  [`${pods}?watch=1&resourceVersion=0`, 10],
  [`${pods}?watch=1&resourceVersion=9`, 1],
  [`${pods}?watch=1&resourceVersion=9&sendInitialEvents=true`, 10],
  [`${pods}?watch=1&resourceVersion=9&sendInitialEvents=false`, 1],
  ['/api/v1/unknown', 1],
  ['/api/v1/namespaces/a/pods/p', 1],
  ['/version', 1],
])('GET %s takes %d seats by the size of its list', (url, seats) => expect(seatsOf('GET', url)).toBe(seats));

it.each<[string, number]>([
  [`${pods}`, 10],
  [`${pods}?limit=100&continue=x`, 2],
  [`${pods}?limit=100&continue=x&${selected}`, 10],
  [`${pods}?fieldSelector=metadata.name%3Dx`, 1],
])('GET %s takes %d seats by the number of objects', (url, seats) =>
  expect(seatsOf('GET', url, { sizeBased: false })).toBe(seats),
);

it('the bound of the level limits the seats of a list', () => {
  expect(seatsOf('GET', pods, { most: 3 })).toBe(3);
  expect(seatsOf('GET', pods, { stats: { count: 0, averageBytes: 0 } })).toBe(1);
});

it('a write occupies final seats for the watches that it concerns', () => {
  const watches = new WatchCounts();
  const info = (url: string) => parseRequestInfo('GET', url);
  const ends = [
    ...Array.from({ length: 30 }, () => watches.add(info(`${pods}?watch=1`))),
    ...Array.from({ length: 12 }, () => watches.add(info('/api/v1/namespaces/a/pods?watch=1'))),
    watches.add(info('/api/v1/namespaces/a/pods?watch=1&fieldSelector=metadata.name%3Dp')),
    watches.add(info('/api/v1/namespaces/b/pods?watch=1')),
    watches.add(info('/apis/x/v1/pods?watch=1')),
  ];
  // An index finds watches of one node.
  expect(watches.add(info(`${pods}?watch=1&fieldSelector=spec.nodeName%3Dn1`))).toBeUndefined();
  const noted: number[] = [];
  const estimator = new WorkEstimator({
    statsOf: () => undefined,
    concernedWatches: (write) => watches.concerned(write),
    watchListEnabled: true,
    sizeBased: true,
  });
  const estimate = (method: string, url: string, most = 0) =>
    estimator.estimate(parseRequestInfo(method, url), most, (count) => noted.push(count));
  expect(estimate('PUT', '/api/v1/namespaces/a/pods/p')).toEqual({ initialSeats: 1, finalSeats: 5, lingerMs: 5 });
  expect(estimate('PUT', '/api/v1/namespaces/a/pods/p', 2)).toEqual({ initialSeats: 1, finalSeats: 2, lingerMs: 12.5 });
  expect(estimate('POST', '/api/v1/namespaces/b/pods').finalSeats).toBe(4);
  expect(estimate('POST', '/api/v1/namespaces/b/secrets').finalSeats).toBe(0);
  expect(noted).toEqual([43, 43, 31, 0]);
  for (const end of ends) end!();
  expect(watches['counts'].size).toBe(0);
});
