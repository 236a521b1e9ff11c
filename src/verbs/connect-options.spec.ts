import { Catalog } from '../catalog/catalog.js';
import { namingProfile } from '../config/naming-profile.js';
import { Query } from '../machinery/query.js';
import { connectOptions } from './connect-options.js';

const types = new Catalog(namingProfile('kubernetes'));

function optionsOf(kind: string, raw: string, subpath = '') {
  const query = new Query(raw);
  const given = { first: (name: string) => query.first(name), all: (name: string) => query.all(name), subpath };
  return connectOptions({ group: '', version: 'v1', kind }, types, given);
}

it.each([
  ['PodExecOptions', '', {}],
  [
    'PodExecOptions',
    'command=sh&command=-c&container=c&stdin=1&tty',
    { command: ['sh', '-c'], container: 'c', stdin: true, tty: true },
  ],
  ['PodExecOptions', 'stdin=0&stdout=FALSE&stderr=true&container=', { stderr: true }],
  ['PodExecOptions', 'path=/x&__proto__=1&metadata=m&kind=Pod', {}],
  ['PodAttachOptions', 'container=c&command=sh', { container: 'c' }],
  ['PodPortForwardOptions', 'ports=80&ports=443,8080', { ports: [80, 443, 8080] }],
])('%s of "%s"', (kind, raw, want) => {
  expect({ ...optionsOf(kind, raw) }).toEqual({ kind, apiVersion: 'v1', ...want });
});

it.each([
  ['PodProxyOptions', '/a/b', { path: '/a/b' }],
  ['ServiceProxyOptions', '', {}],
])('%s have the path %s that was requested, whatever the query says', (kind, subpath, want) => {
  expect({ ...optionsOf(kind, 'path=/secret', subpath) }).toEqual({ kind, apiVersion: 'v1', ...want });
});

it.each([
  ['x', 'invalid syntax'],
  ['-1', 'invalid syntax'],
  ['', 'invalid syntax'],
  ['65536', 'value out of range'],
])('port "%s" is refused (400)', (text, problem) => {
  const message = `cannot convert to []int32: strconv.ParseUint: parsing "${text}": ${problem}`;
  expect(() => optionsOf('PodPortForwardOptions', `ports=${text}`)).toThrow(
    expect.objectContaining({ code: 400, message }) as Error,
  );
});

it('metadata is inherited, and has no labels', () => {
  const options = optionsOf('PodExecOptions', 'command=ls');
  expect([options.metadata, Object.keys(options)]).toEqual([{}, ['kind', 'apiVersion', 'command']]);
});
