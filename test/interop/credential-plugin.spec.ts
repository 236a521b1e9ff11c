import { writeFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeEphemeralPki } from '../../src/certificates/ephemeral-pki.js';
import { openKubeconfigClient, type KubeconfigClient } from '../../src/client.js';
import { systemClock } from '../../src/std/clock.js';
import { startKeelson, type Keelson } from '../../src/testing.js';
import { ClientKubeconfigs } from '../harness/client-kubeconfigs.js';
import { RevocableTokens } from '../harness/revocable-tokens.js';

/** Credential plug-ins, as processes of their own, with a real server. Both sides have the clock of the tokens. */
const tokens = new RevocableTokens();
const { clock } = tokens;

let keelson: Keelson;
let files: ClientKubeconfigs;
let client: KubeconfigClient;
beforeAll(async () => {
  files = new ClientKubeconfigs();
  keelson = await startKeelson({ clock, authenticators: [tokens.authenticator] });
  const script = `#!${process.execPath}
    const fs = require('node:fs');
    fs.appendFileSync(__dirname + '/runs', 'x');
    process.stdout.write(fs.readFileSync(__dirname + '/output'));`;
  files.write('plugin.cjs', script, 0o700);
});
beforeEach(async () => {
  files.write('runs', '');
  const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: './plugin.cjs', interactiveMode: 'Never' };
  client = await openKubeconfigClient({ file: files.kubeconfig(keelson, { exec }), clock });
});
afterEach(() => client.close());
afterAll(async () => {
  await keelson.stop();
  files.remove();
});

const runs = () => readFileSync(join(files.directory, 'runs'), 'utf8').length;
function prints(status: Record<string, unknown>): void {
  const output = { apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status };
  writeFileSync(join(files.directory, 'output'), JSON.stringify(output));
}

interface Review {
  readonly status: { readonly userInfo: { readonly username: string } };
}
const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
const userName = async () =>
  (await client.create<Review>('/apis/authentication.k8s.io/v1/selfsubjectreviews', review)).status.userInfo.username;
const keyPair = async (commonName: string) => {
  const pki = await makeEphemeralPki({ clock: systemClock });
  const { certificate, key } = await pki.issueClient({ commonName, organizations: ['system:masters'] });
  return { clientCertificateData: certificate, clientKeyData: key };
};

it('a token with expirationTimestamp is replaced when it has expired', async () => {
  tokens.accept('a', 'b');
  prints({ token: 'a', expirationTimestamp: new Date(clock.now() + 60_000).toISOString() });
  expect([await userName(), await userName(), runs()]).toEqual(['user-a', 'user-a', 1]);
  prints({ token: 'b' });
  tokens.advance(60_000);
  expect([await userName(), runs()]).toEqual(['user-b', 2]);
});

it('a token that the server rejects with 401 is replaced, once for concurrent requests', async () => {
  tokens.accept('c', 'd');
  prints({ token: 'c' });
  expect(await userName()).toBe('user-c');
  tokens.revoke('c');
  prints({ token: 'd' });
  expect(await Promise.all([userName(), userName(), userName()])).toEqual(['user-d', 'user-d', 'user-d']);
  expect(runs()).toBe(2);
});

it('a token that stays rejected is an error after one more run', async () => {
  prints({ token: 'unknown' });
  await expect(userName()).rejects.toMatchObject({ status: 401, reason: 'Unauthorized' });
  expect(runs()).toBe(2);
});

it('a plugin that fails after an answer 401 is the error', async () => {
  tokens.accept('e');
  prints({ token: 'e' });
  expect(await userName()).toBe('user-e');
  tokens.revoke('e');
  writeFileSync(join(files.directory, 'output'), '');
  await expect(userName()).rejects.toMatchObject({ code: 'Credentials', message: expect.stringMatching(/is empty$/) });
});

it('a changed certificate closes the old connection and watches', async () => {
  prints({ ...(await keyPair('anna')), expirationTimestamp: new Date(clock.now() + 60_000).toISOString() });
  expect(await userName()).toBe('anna');
  const path = '/api/v1/namespaces/default/configmaps';
  await client.create(path, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'first' } });
  const watch = client.watch(path);
  expect(await watch.next()).toMatchObject({ value: { type: 'ADDED' } });
  prints(await keyPair('bert'));
  tokens.advance(60_000);
  expect([await userName(), await userName(), runs()]).toEqual(['bert', 'bert', 2]);
  // The watch may have had events before.
  let last = await watch.next();
  while (last.done !== true) last = await watch.next();
  expect(last).toEqual({ done: true, value: undefined });
});

it('a token in the kubeconfig is used instead of the plugin', async () => {
  tokens.accept('fixed');
  const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: './gone', interactiveMode: 'Never' };
  const file = files.kubeconfig(keelson, { exec, token: 'fixed' });
  client.close();
  client = await openKubeconfigClient({ file });
  expect(await userName()).toBe('user-fixed');
});
