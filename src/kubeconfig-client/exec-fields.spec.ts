import { loadKubeconfig } from './load-kubeconfig.js';

const server = 'https://127.0.0.1:6443';
const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'aws', interactiveMode: 'Never' };
const document = ({ cluster = { server }, user }: { readonly cluster?: unknown; readonly user: unknown }) => ({
  'current-context': 'here',
  clusters: [{ name: 'c', cluster }],
  contexts: [{ name: 'here', context: { cluster: 'c', user: 'u' } }],
  users: [{ name: 'u', user }],
});
const load = (content: unknown) => loadKubeconfig({ text: JSON.stringify(content) });

describe('Client configuration exec fields', () => {
  it('naming svc changes the group of apiVersion and of the extension', async () => {
    const naming = { apiDomain: 'svc.example', execInfoVariable: 'SVC_EXEC_INFO' };
    const name = 'client.authentication.svc.example/exec';
    const cluster = { server, extensions: [{ name, extension: { audience: 'x' } }] };
    const user = { exec: { ...exec, apiVersion: 'client.authentication.svc.example/v1' } };
    const found = await loadKubeconfig({ text: JSON.stringify(document({ cluster, user })), naming });
    expect(found.cluster.pluginConfig).toEqual({ audience: 'x' });
    await expect(loadKubeconfig({ text: JSON.stringify(document({ user: { exec } })), naming })).rejects.toThrow(
      'apiVersion must be client.authentication.svc.example/v1 or client.authentication.svc.example/v1beta1',
    );
  });

  const rows: readonly { name: string; exec: unknown; problem?: string; want?: unknown }[] = [
    { name: 'command: required', exec: { ...exec, command: '' }, problem: 'command is required' },
    { name: 'command: a bare name is found by PATH', exec, want: { command: 'aws' } },
    { name: 'command: an absolute path stays', exec: { ...exec, command: '/x/y' }, want: { command: '/x/y' } },
    { name: 'apiVersion: required', exec: { ...exec, apiVersion: null }, problem: 'apiVersion is required' },
    {
      name: 'apiVersion: v1alpha1',
      exec: { ...exec, apiVersion: 'client.authentication.k8s.io/v1alpha1' },
      problem: 'apiVersion must be',
    },
    {
      name: 'env: list of name/value pairs',
      exec: { ...exec, env: [{ name: 'A', value: 'b' }] },
      want: { env: { A: 'b' } },
    },
    { name: 'env: null', exec: { ...exec, env: null, args: null }, want: { env: {}, args: [] } },
    { name: 'env: without name', exec: { ...exec, env: [{ value: 'b' }] }, problem: 'env[0].name is required' },
    { name: 'args: list', exec: { ...exec, args: ['a', ''] }, want: { args: ['a', ''] } },
    { name: 'args: of a number', exec: { ...exec, args: [1] }, problem: 'args[0] must be a string' },
    {
      name: 'provideClusterInfo: boolean',
      exec: { ...exec, provideClusterInfo: true },
      want: { providesClusterInfo: true },
    },
    {
      name: 'interactiveMode: required in v1',
      exec: { ...exec, interactiveMode: null },
      problem: 'interactiveMode must be Never',
    },
    {
      name: 'interactiveMode: another',
      exec: { ...exec, interactiveMode: 'always' },
      problem: 'interactiveMode must be Never',
    },
    {
      name: 'interactiveMode: default IfAvailable in v1beta1',
      exec: { apiVersion: 'client.authentication.k8s.io/v1beta1', command: 'x' },
      want: { interactiveMode: 'IfAvailable' },
    },
  ];
  it.each(rows)('$name', async ({ exec: given, problem, want }) => {
    const loaded = load(document({ user: { exec: given } }));
    if (problem !== undefined)
      await expect(loaded).rejects.toThrow(`kubeconfig (given as text): users[0].user.exec.${problem}`);
    else expect((await loaded).user.plugin).toMatchObject(want as object);
  });
});
