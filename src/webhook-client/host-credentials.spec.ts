import { parseUsers } from '../kubeconfig-client/parse-users.js';
import { ManualClock } from '../std/clock.js';
import { HostCredentials } from './host-credentials.js';

const users = (names: readonly string[], current?: string) =>
  parseUsers(
    Buffer.from(
      JSON.stringify({
        users: names.map((name) => ({ name, user: { token: `token of ${name}` } })),
        ...(current !== undefined && {
          contexts: [{ name: 'c', context: { cluster: 'x', user: current } }],
          'current-context': 'c',
        }),
      }),
    ),
    { location: '/etc/hooks.yaml', directory: '/etc', apiDomain: 'k8s.io' },
  );

it.each<[string, readonly string[], string, string | undefined]>([
  ['host and port', ['a.b.c', '*.b.c:8443', 'a.b.c:8443', '*'], 'a.b.c:8443', 'a.b.c:8443'],
  ['the nearest suffix with the port', ['*.c:8443', '*.b.c:8443', '*'], 'a.b.c:8443', '*.b.c:8443'],
  ['a host without port, for port 443 only', ['a.b.c', '*'], 'a.b.c:8443', '*'],
  ['a host without port', ['a.b.c', '*'], 'a.b.c:443', 'a.b.c'],
  ['a suffix without port', ['*.b.c'], 'a.b.c:443', '*.b.c'],
  ['no suffix that is the host itself', ['*.a.b.c'], 'a.b.c:443', undefined],
  ['all hosts', ['*'], 'a:443', '*'],
  ['no user', ['other'], 'a:443', undefined],
  ['a name of Object.prototype', ['a'], 'constructor:443', undefined],
])('credentials of %s', async (_title, names, target, want) => {
  const credentials = new HostCredentials(users(names), new ManualClock());
  const [host = '', port = ''] = target.split(':');
  const found = await credentials.of(host, port)?.source.get();
  expect(found?.token).toBe(want === undefined ? undefined : `token of ${want}`);
});

it('the user of the current context has the credentials of all other hosts', async () => {
  const credentials = new HostCredentials(users(['me', 'a:443'], 'me'), new ManualClock());
  expect((await credentials.of('b', '443')?.source.get())?.token).toBe('token of me');
  expect((await credentials.of('a', '443')?.source.get())?.token).toBe('token of a:443');
});

it('calls are anonymous without a kubeconfig', () => {
  expect(new HostCredentials(undefined, new ManualClock()).of('a', '443')).toBeUndefined();
});

it('a credential plug-in is refused', () => {
  const text = JSON.stringify({
    users: [
      {
        name: 'a',
        user: { exec: { command: 'x', apiVersion: 'client.authentication.k8s.io/v1', interactiveMode: 'Never' } },
      },
    ],
  });
  const parse = () => parseUsers(Buffer.from(text), { location: 'f', directory: '/', apiDomain: 'k8s.io' });
  expect(parse).toThrow('exec is not supported here');
});
