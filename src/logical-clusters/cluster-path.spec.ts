import { parseClusterPath } from './cluster-path.js';

test.each([
  ['/clusters/a/api/v1/pods?watch=1', 'a', '/api/v1/pods?watch=1'],
  ['/clusters/a', 'a', '/'],
  ['/clusters/a/', 'a', '/'],
  ['/clusters/a?timeout=1s', 'a', '/?timeout=1s'],
  ['/clusters/a/../b/api', 'a', '/../b/api'],
  ['/clusters/a/clusters/b/api', 'a', '/clusters/b/api'],
  ['/clusters/a//clusters/b', 'a', '//clusters/b'],
])('%s is a request for a cluster', (url, name, rest) => {
  expect(parseClusterPath(url)).toEqual({ name, url: rest });
});

test.each([
  '/api/v1/pods',
  '/clusters',
  '/clusters/',
  '/clusters//api',
  '/clusters/../api',
  '/clusters/.',
  '/clusters/a%2fb/api',
  '/clusters/%61/api',
  '/clusters/A/api',
  '/clusters/a.b/api',
  '/clusters/a#b',
  '//clusters/a/api',
  '/%63lusters/a/api',
  '/Clusters/a/api',
  '/x/clusters/a/api',
  'https://host/clusters/a/api',
  `/clusters/${'a'.repeat(64)}/api`,
])('%s is a request for the root', (url) => {
  expect(parseClusterPath(url)).toBeUndefined();
});
